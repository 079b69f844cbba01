"""The library calls that PyTorch's operator database leads to, forward and backward."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Final

import torch
from functorch.compile import aot_function, make_boxed_func
from torch import Tensor
from torch.fx import GraphModule
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._pytree import tree_leaves

from neuron_compile.errors import DynamicShapesError, LoweringError, UnsupportedOpError
from neuron_compile.lowering.decompose.table import decomposition_table
from neuron_compile.lowering.decompose.whole_operators import whole_operators
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.lowering.import_fx import import_fx
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops
from neuron_compile.lowering.program import LibraryCall
from ops.entries import entries
from ops.samples import Sample, is_differentiable, samples_of

# What no graph can be made of, for reasons that have nothing to do with the library.
_NOT_TRACEABLE: Final = (
    RuntimeError, NotImplementedError, TypeError, ValueError, AssertionError, NameError,
    IndexError, AttributeError, KeyError,
    UnsupportedOpError, DynamicShapesError, LoweringError,
)  # fmt: skip


def names_with(dtype: torch.dtype) -> list[str]:
    """The entries that exist in this dtype, in the database's order."""
    return [name for name, op in entries().items() if dtype in op.supported_dtypes("cpu")]


def library_calls(
    names: Iterable[str], dtype: torch.dtype, *, samples: int, decomposed: bool = True
) -> dict[str, LibraryCall]:
    """The distinct calls by symbol, of up to so many samples of each entry.

    Each operator with a row goes to the library, whether Torch-MLIR would take it or not. Without
    `decomposed` PyTorch takes none apart.
    """
    table = decomposition_table() if decomposed else {}
    found: dict[str, LibraryCall] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            for sample in _samples(name, dtype, samples):
                found |= {call.symbol: call for call in _calls(sample, table)}
    return found


def _samples(name: str, dtype: torch.dtype, count: int) -> Sequence[Sample]:
    try:
        return samples_of(entries()[name], dtype, max(count, 2))[:count]
    except _NOT_TRACEABLE:
        return []


def _calls(sample: Sample, table: dict[Any, Any]) -> list[LibraryCall]:
    calls: list[LibraryCall] = []

    def gather(graph: GraphModule, _inputs: Sequence[Any]) -> Any:
        lowered = GraphModule(graph, graph.graph)
        replace_random_ops(lowered)
        legal = from_fx(lowered).legal_module
        everything = frozenset(range(len(legal.graph.nodes)))
        calls.extend(import_fx(legal, forced=everything).calls)
        return make_boxed_func(graph.forward)

    def function(*tensors: Tensor) -> Any:
        return sample.process(sample.call(tensors))

    traced = aot_function(function, fw_compiler=gather, bw_compiler=gather, decompositions=table)
    try:
        with sdpa_kernel(SDPBackend.MATH), whole_operators():
            results = tree_leaves(traced(*sample.tensors()))
            for result in filter(is_differentiable, results):
                result.backward(torch.ones_like(result), retain_graph=True)
                break
    except _NOT_TRACEABLE:
        pass
    return calls
