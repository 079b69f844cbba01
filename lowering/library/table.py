"""The table: which operators have a library body, and when it is preferred over Torch-MLIR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from neuron_compile.lowering.library.arguments import Arguments
from neuron_compile.lowering.library.operation import LibraryOp, Request
from neuron_compile.lowering.program import TensorSpec

TABLE: Final[dict[str, LibraryOp]] = {
    # Sorting and selection by rank.
    "aten.sort.default": LibraryOp("sorting:sort"),
    "aten.sort.stable": LibraryOp("sorting:sort_stable"),
    "aten.argsort.default": LibraryOp("sorting:argsort"),
    "aten.argsort.stable": LibraryOp("sorting:argsort_stable"),
    "aten.topk.default": LibraryOp("sorting:topk"),
    "aten.kthvalue.default": LibraryOp("sorting:kthvalue"),
    "aten.median.default": LibraryOp("sorting:median"),
    "aten.median.dim": LibraryOp("sorting:median_dim"),
    "aten.nanmedian.default": LibraryOp("sorting:nanmedian"),
    "aten.nanmedian.dim": LibraryOp("sorting:nanmedian_dim"),
    "aten.mode.default": LibraryOp("sorting:mode"),
    # Index tensors.
    "aten.index.Tensor": LibraryOp("indexing:index"),
    "aten.index_put.default": LibraryOp("indexing:index_put"),
    "aten.index_select.default": LibraryOp("indexing:index_select"),
    "aten.index_fill.int_Scalar": LibraryOp("indexing:index_fill"),
    "aten.index_fill.int_Tensor": LibraryOp("indexing:index_fill"),
    "aten.index_copy.default": LibraryOp("indexing:index_copy"),
    "aten.index_add.default": LibraryOp("indexing:index_add"),
    "aten.index_reduce.default": LibraryOp("scatter:index_reduce"),
    "aten.take.default": LibraryOp("indexing:take"),
    "aten.put.default": LibraryOp("indexing:put"),
    "aten.masked_scatter.default": LibraryOp("indexing:masked_scatter"),
    "aten.masked_scatter_backward.default": LibraryOp("indexing:masked_scatter_backward"),
    "aten.embedding.default": LibraryOp("indexing:embedding"),
    "aten.embedding_dense_backward.default": LibraryOp("indexing:embedding_dense_backward"),
    # Gather and scatter along a dimension.
    "aten.gather.default": LibraryOp("scatter:gather"),
    "aten.scatter.src": LibraryOp("scatter:scatter"),
    "aten.scatter.value": LibraryOp("scatter:scatter_value"),
    "aten.scatter.reduce": LibraryOp("scatter:scatter_with"),
    "aten.scatter.value_reduce": LibraryOp("scatter:scatter_value_with"),
    "aten.scatter_add.default": LibraryOp("scatter:scatter_add"),
    "aten.scatter_reduce.two": LibraryOp("scatter:scatter_reduce"),
    # Random numbers, as functions of a seed.
    "neuron_compile.bits.default": LibraryOp("random_bits:bits"),
    "neuron_compile.uniform.default": LibraryOp("random_numbers:uniform"),
    "neuron_compile.normal.default": LibraryOp("random_numbers:normal"),
    "neuron_compile.log_normal.default": LibraryOp("random_numbers:log_normal"),
    "neuron_compile.randint.default": LibraryOp("random_numbers:randint"),
    "neuron_compile.randperm.default": LibraryOp("random_numbers:randperm"),
    "neuron_compile.exponential.default": LibraryOp("random_numbers:exponential"),
    "neuron_compile.geometric.default": LibraryOp("random_numbers:geometric"),
    "neuron_compile.cauchy.default": LibraryOp("random_numbers:cauchy"),
    "neuron_compile.poisson.default": LibraryOp("random_counts:poisson"),
    "neuron_compile.binomial.default": LibraryOp("random_counts:binomial"),
    "neuron_compile.gamma.default": LibraryOp("random_counts:gamma"),
    "neuron_compile.dirichlet.default": LibraryOp("random_counts:dirichlet"),
    "neuron_compile.multinomial.default": LibraryOp("random_counts:multinomial"),
}


def find(
    operator: str,
    arguments: Arguments,
    operands: Sequence[TensorSpec],
    results: Sequence[TensorSpec | None],
    *,
    forced: bool = False,
) -> LibraryOp | None:
    """The row of the overload `operator` (`"aten.sort.stable"`) if the library takes this call.

    None means that Torch-MLIR is to convert it. `forced` asks only whether there is a body at all,
    for a call that Torch-MLIR has failed to convert.
    """
    entry = TABLE.get(operator)
    if entry is None or forced or entry.takes is None:
        return entry
    return entry if entry.takes(Request(operator, arguments, operands, results)) else None
