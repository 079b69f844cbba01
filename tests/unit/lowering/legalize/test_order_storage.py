"""`as_strided` reads the storage, in whatever order the tensor shows it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from fx_graphs import capture, run, targets
from neuron_compile.lowering.errors import UnsupportedOpError
from neuron_compile.lowering.legalize.order_storage import order_storage

BASE = torch.arange(24.0)
SOURCES: dict[str, Callable[[], Tensor]] = {
    "contiguous": lambda: BASE.view(4, 6),
    "transposed": lambda: BASE.view(4, 6).t(),
    "channels last": lambda: BASE.view(2, 3, 4).permute(0, 2, 1),
}


@pytest.mark.parametrize("source", SOURCES)
def test_permuted_operand_is_read_in_the_order_of_its_storage(source: str) -> None:
    x = SOURCES[source]()
    module = capture(lambda x: torch.as_strided(x, (3, 2), (2, 5), 1), x)
    order_storage(module)
    # Torch-MLIR's importer must not meet the operator by this name.
    assert "as_strided" not in targets(module)
    # As a program would: the operand of the strided view is dense and row-major.
    for node in module.graph.nodes:
        if str(node.target).startswith("aten.as_strided"):
            assert node.args[0].meta["val"].is_contiguous()
    expected = torch.as_strided(x, (3, 2), (2, 5), 1)
    permuted = next(n for n in module.graph.nodes if str(n.target).startswith("aten.permute"))
    physical = x.permute(permuted.args[1]).contiguous()
    assert torch.equal(torch.as_strided(physical, (3, 2), (2, 5), 1), expected)


def test_written_storage_comes_back_in_the_order_of_the_operand() -> None:
    x, values = BASE.view(4, 6).t(), -torch.ones(3)
    module = capture(lambda x, v: torch.as_strided_scatter(x, v, (3,), (7,), 2), x, values)
    order_storage(module)
    assert targets(module) == ["permute", "as_strided_scatter", "permute"]
    (result,) = run(module, x, values)
    assert torch.equal(result, torch.as_strided_scatter(x, values, (3,), (7,), 2))


def test_operand_that_does_not_fill_its_storage_is_refused() -> None:
    gaps = torch.arange(24.0).view(4, 6)[:, :3]
    module = capture(lambda x: torch.as_strided(x, (2,), (1,), 0), gaps)
    with pytest.raises(UnsupportedOpError, match="as_strided"):
        order_storage(module)
