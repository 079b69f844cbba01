from __future__ import annotations

import pytest
import torch
from torch.fx import Graph, GraphModule

from fx_graphs import run
from neuron_compile.lowering.legalize.store_constants import store_constants

CONSTANTS = [
    torch.tensor([0, 127, 128, 255], dtype=torch.uint8),
    torch.tensor([0, 2**15, 2**16 - 1], dtype=torch.uint16),
    torch.tensor([0, 2**31, 2**32 - 1], dtype=torch.uint32),
    torch.tensor([0, 2**63, 2**64 - 1], dtype=torch.uint64),
    torch.tensor([[1 + 2j, -3j]], dtype=torch.complex64),
    torch.tensor([[1 + 2j, -3j]], dtype=torch.complex64).conj(),
    torch.tensor(2 - 1j, dtype=torch.complex64),
    torch.empty(0, 2, dtype=torch.uint8),
]
KINDS = [f"{constant.dtype}{list(constant.shape)}" for constant in CONSTANTS]


def graph_of(constant: torch.Tensor) -> GraphModule:
    """A graph that returns a constant twice."""
    graph = Graph()
    node = graph.get_attr("constant")
    node.meta["val"] = constant.to("meta")
    graph.output((node, node))
    root = torch.nn.Module()
    root.register_buffer("constant", constant)
    return GraphModule(root, graph)


@pytest.mark.parametrize("constant", CONSTANTS, ids=KINDS)
def test_stored_type_is_neither_unsigned_nor_complex_and_the_value_stays(
    constant: torch.Tensor,
) -> None:
    module = graph_of(constant)
    store_constants(module)
    (stored,) = module.graph.find_nodes(op="get_attr")
    dtype = getattr(module, str(stored.target)).dtype
    assert dtype.is_signed
    assert not dtype.is_complex
    assert stored.meta["val"].dtype is dtype
    for result in run(module):
        assert result.dtype is constant.dtype
        assert result.tolist() == constant.tolist()


def test_other_constants_are_left_alone() -> None:
    for constant in (torch.tensor([1.0]), torch.tensor([True]), torch.tensor([-1])):
        module = graph_of(constant)
        before = str(module.graph)
        store_constants(module)
        assert str(module.graph) == before
