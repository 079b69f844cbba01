"""The table: which operators have a library body, and when it is preferred over Torch-MLIR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from neuron_compile.lowering.library.arguments import Arguments
from neuron_compile.lowering.library.conditions import (
    any_of,
    has_complex,
    has_scalar_operand,
    is_empty,
    is_integral,
    is_low_precision,
)
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
    # Running sums and extremes.
    "aten.cumsum.default": LibraryOp(
        "scans:cumsum",
        any_of(is_low_precision, has_scalar_operand, is_integral, is_empty, has_complex),
    ),
    "aten.cumprod.default": LibraryOp("scans:cumprod"),
    "aten.logcumsumexp.default": LibraryOp("scans:logcumsumexp"),
    "aten.cummax.default": LibraryOp("scans:cummax"),
    "aten.cummin.default": LibraryOp("scans:cummin"),
    # Extremes with the first index, NaN winning.
    "aten.max.dim": LibraryOp("extremes:max_dim"),
    "aten.min.dim": LibraryOp("extremes:min_dim"),
    "aten.argmax.default": LibraryOp("extremes:argmax"),
    "aten.argmin.default": LibraryOp("extremes:argmin"),
    "aten.amax.default": LibraryOp("extremes:amax", any_of(has_scalar_operand, is_integral)),
    "aten.amin.default": LibraryOp("extremes:amin", any_of(has_scalar_operand, is_integral)),
    "aten.aminmax.default": LibraryOp("extremes:aminmax"),
    "aten.max.default": LibraryOp(
        "extremes:maximum_of_all", any_of(has_scalar_operand, is_integral)
    ),
    "aten.min.default": LibraryOp(
        "extremes:minimum_of_all", any_of(has_scalar_operand, is_integral)
    ),
    # Reductions: torch-mlir fails for 0-d operands, and accumulates low precision unwidened.
    "aten.sum.default": LibraryOp("reductions:sum", any_of(is_low_precision, has_complex)),
    "aten.sum.dim_IntList": LibraryOp(
        "reductions:sum", any_of(is_low_precision, has_scalar_operand, has_complex)
    ),
    "aten.nansum.default": LibraryOp("reductions:nansum"),
    "aten.prod.default": LibraryOp("reductions:prod"),
    "aten.prod.dim_int": LibraryOp("reductions:prod"),
    "aten.mean.default": LibraryOp("reductions:mean", any_of(is_low_precision, has_complex)),
    "aten.mean.dim": LibraryOp(
        "reductions:mean", any_of(is_low_precision, has_scalar_operand, has_complex)
    ),
    "aten.all.default": LibraryOp("reductions:all", has_complex),
    "aten.all.dim": LibraryOp("reductions:all", any_of(has_scalar_operand, has_complex)),
    "aten.all.dims": LibraryOp("reductions:all"),
    "aten.any.default": LibraryOp("reductions:any", has_complex),
    "aten.any.dim": LibraryOp("reductions:any", any_of(has_scalar_operand, has_complex)),
    "aten.any.dims": LibraryOp("reductions:any"),
    "aten.var.correction": LibraryOp("reductions:var"),
    "aten.std.correction": LibraryOp("reductions:std"),
    "aten.var_mean.correction": LibraryOp("reductions:var_mean"),
    "aten.std_mean.correction": LibraryOp("reductions:std_mean"),
    "aten.logsumexp.default": LibraryOp("reductions:logsumexp"),
    "aten.linalg_vector_norm.default": LibraryOp("reductions:vector_norm"),
    "aten.trace.default": LibraryOp("reductions:trace"),
    # Pooling.
    "aten.max_pool2d.default": LibraryOp("pooling:max_pool2d_values"),
    "aten.max_pool2d_with_indices.default": LibraryOp("pooling:max_pool2d"),
    "aten.max_pool3d_with_indices.default": LibraryOp("pooling:max_pool3d"),
    "aten.max_pool2d_with_indices_backward.default": LibraryOp("pooling:max_pool2d_backward"),
    "aten.max_pool3d_with_indices_backward.default": LibraryOp("pooling:max_pool3d_backward"),
    "aten.max_unpool2d.default": LibraryOp("pooling:max_unpool2d"),
    "aten.max_unpool3d.default": LibraryOp("pooling:max_unpool3d"),
    "aten.avg_pool1d.default": LibraryOp("average_pooling:avg_pool1d"),
    "aten.avg_pool2d.default": LibraryOp("average_pooling:avg_pool2d"),
    "aten.avg_pool3d.default": LibraryOp("average_pooling:avg_pool3d"),
    "aten.avg_pool2d_backward.default": LibraryOp("average_pooling:avg_pool2d_backward"),
    "aten.avg_pool3d_backward.default": LibraryOp("average_pooling:avg_pool3d_backward"),
    "aten.adaptive_avg_pool1d.default": LibraryOp("adaptive_pooling:adaptive_avg_pool1d"),
    "aten._adaptive_avg_pool2d.default": LibraryOp("adaptive_pooling:adaptive_avg_pool2d"),
    "aten._adaptive_avg_pool3d.default": LibraryOp("adaptive_pooling:adaptive_avg_pool3d"),
    "aten._adaptive_avg_pool2d_backward.default": LibraryOp(
        "adaptive_pooling:adaptive_avg_pool2d_backward"
    ),
    "aten._adaptive_avg_pool3d_backward.default": LibraryOp(
        "adaptive_pooling:adaptive_avg_pool3d_backward"
    ),
    "aten.adaptive_max_pool1d.default": LibraryOp("adaptive_pooling:adaptive_max_pool1d"),
    "aten.adaptive_max_pool2d.default": LibraryOp("adaptive_pooling:adaptive_max_pool2d"),
    "aten.adaptive_max_pool3d.default": LibraryOp("adaptive_pooling:adaptive_max_pool3d"),
    "aten.adaptive_max_pool2d_backward.default": LibraryOp("pooling:adaptive_max_pool2d_backward"),
    "aten.adaptive_max_pool3d_backward.default": LibraryOp("pooling:adaptive_max_pool3d_backward"),
    "aten.fractional_max_pool2d.default": LibraryOp("adaptive_pooling:fractional_max_pool2d"),
    "aten.fractional_max_pool3d.default": LibraryOp("adaptive_pooling:fractional_max_pool3d"),
    "aten.fractional_max_pool2d_backward.default": LibraryOp(
        "pooling:fractional_max_pool2d_backward"
    ),
    "aten.fractional_max_pool3d_backward.default": LibraryOp(
        "pooling:fractional_max_pool3d_backward"
    ),
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
