"""The table: which operators have a library body, and when it is preferred over Torch-MLIR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from neuron_compile.lowering.library.arguments import Arguments
from neuron_compile.lowering.library.conditions import (
    any_of,
    has_scalar_operand,
    is_empty,
    is_integral,
    is_low_precision,
    is_unsigned,
    is_unsigned_or_bool,
    makes_unsigned,
    never,
)
from neuron_compile.lowering.library.operation import LibraryOp, Request
from neuron_compile.lowering.program import TensorSpec

TABLE: Final[dict[str, LibraryOp]] = {
    # Sorting and selection by rank.
    "aten.sort.default": LibraryOp("sorting:sort", is_marked=True),
    "aten.sort.stable": LibraryOp("sorting:sort_stable", is_marked=True),
    "aten.argsort.default": LibraryOp("sorting:argsort", is_marked=True),
    "aten.argsort.stable": LibraryOp("sorting:argsort_stable", is_marked=True),
    "aten.topk.default": LibraryOp("sorting:topk", is_marked=True),
    "aten.kthvalue.default": LibraryOp("sorting:kthvalue", is_marked=True),
    "aten.median.default": LibraryOp("sorting:median"),
    "aten.median.dim": LibraryOp("sorting:median_dim", is_marked=True),
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
    "aten._embedding_bag.default": LibraryOp("embedding_bag:embedding_bag", needs_results=True),
    "aten._embedding_bag_forward_only.default": LibraryOp(
        "embedding_bag:embedding_bag", needs_results=True
    ),
    "aten._embedding_bag_backward.default": LibraryOp("embedding_bag:backward"),
    "aten._embedding_bag_per_sample_weights_backward.default": LibraryOp(
        "embedding_bag:weights_backward"
    ),
    # Gather and scatter along a dimension.
    "aten.gather.default": LibraryOp("scatter:gather"),
    "aten.scatter.src": LibraryOp("scatter:scatter"),
    "aten.scatter.value": LibraryOp("scatter:scatter_value"),
    "aten.scatter.reduce": LibraryOp("scatter:scatter_with"),
    "aten.scatter.value_reduce": LibraryOp("scatter:scatter_value_with"),
    "aten.scatter_add.default": LibraryOp("scatter:scatter_add"),
    "aten.scatter_reduce.two": LibraryOp("scatter:scatter_reduce"),
    # Running sums and extremes.
    "aten.cumsum.default": LibraryOp("scans:cumsum", is_marked=True),
    "aten.cumprod.default": LibraryOp("scans:cumprod", is_marked=True),
    "aten.logcumsumexp.default": LibraryOp("scans:logcumsumexp"),
    "aten.cummax.default": LibraryOp("scans:cummax", is_marked=True),
    "aten.cummin.default": LibraryOp("scans:cummin", is_marked=True),
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
    "aten.sum.default": LibraryOp("reductions:sum", is_low_precision),
    "aten.sum.dim_IntList": LibraryOp(
        "reductions:sum", any_of(is_low_precision, has_scalar_operand)
    ),
    "aten.nansum.default": LibraryOp("reductions:nansum"),
    "aten.prod.default": LibraryOp("reductions:prod"),
    "aten.prod.dim_int": LibraryOp("reductions:prod"),
    "aten.mean.default": LibraryOp("reductions:mean", is_low_precision),
    "aten.mean.dim": LibraryOp("reductions:mean", any_of(is_low_precision, has_scalar_operand)),
    "aten.all.default": LibraryOp("reductions:all", never),
    "aten.all.dim": LibraryOp("reductions:all", has_scalar_operand),
    "aten.all.dims": LibraryOp("reductions:all"),
    "aten.any.default": LibraryOp("reductions:any", never),
    "aten.any.dim": LibraryOp("reductions:any", has_scalar_operand),
    "aten.any.dims": LibraryOp("reductions:any"),
    "aten.var.correction": LibraryOp("reductions:var"),
    "aten.std.correction": LibraryOp("reductions:std"),
    "aten.var_mean.correction": LibraryOp("reductions:var_mean"),
    "aten.std_mean.correction": LibraryOp("reductions:std_mean"),
    "aten.logsumexp.default": LibraryOp("reductions:logsumexp"),
    "aten.linalg_vector_norm.default": LibraryOp("reductions:vector_norm"),
    "aten.trace.default": LibraryOp("reductions:trace"),
    "aten.hash_tensor.default": LibraryOp("reductions:hash_tensor"),
    "aten.segment_reduce.default": LibraryOp("segments:segment_reduce"),
    "aten._segment_reduce_backward.default": LibraryOp("segments:segment_reduce_backward"),
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
    # Mixtures of experts.
    "aten._grouped_mm.default": LibraryOp("grouped_products:grouped_mm"),
    "transformers.grouped_mm_fallback.default": LibraryOp("grouped_products:grouped_mm_fallback"),
    "transformers.grouped_mm_fallback_backward.default": LibraryOp(
        "grouped_products:grouped_mm_fallback_backward"
    ),
    # Convolutions.
    "aten.convolution.default": LibraryOp("convolution:convolution"),
    "aten.convolution_backward.default": LibraryOp("convolution:convolution_backward"),
    # Fourier transforms and complex numbers.
    "aten._fft_c2c.default": LibraryOp("fourier:c2c", is_marked=True),
    "aten._fft_r2c.default": LibraryOp("fourier:r2c", is_marked=True),
    "aten._fft_c2r.default": LibraryOp("fourier:c2r", is_marked=True),
    "aten._conj.default": LibraryOp("complex_parts:conj"),
    "aten.conj.default": LibraryOp("complex_parts:conj"),
    "aten._conj_physical.default": LibraryOp("complex_parts:conj"),
    "aten.conj_physical.default": LibraryOp("complex_parts:conj"),
    "aten.resolve_conj.default": LibraryOp("shapes:same"),
    "aten.resolve_neg.default": LibraryOp("shapes:same"),
    "aten.real.default": LibraryOp("complex_parts:real"),
    "aten.imag.default": LibraryOp("complex_parts:imag"),
    "aten.view_as_real.default": LibraryOp("complex_parts:view_as_real", is_marked=True),
    "aten.view_as_complex.default": LibraryOp("complex_parts:view_as_complex", is_marked=True),
    "aten.complex.default": LibraryOp("complex_parts:from_parts"),
    "aten.polar.default": LibraryOp("complex_parts:polar"),
    # Element by element.
    "aten.add.Tensor": LibraryOp("arithmetic:add", never),
    "aten.add.Scalar": LibraryOp("arithmetic:add", never),
    "aten.sub.Tensor": LibraryOp("arithmetic:sub", never),
    "aten.sub.Scalar": LibraryOp("arithmetic:sub", never),
    "aten.rsub.Tensor": LibraryOp("arithmetic:rsub", never),
    "aten.rsub.Scalar": LibraryOp("arithmetic:rsub", never),
    "aten.mul.Tensor": LibraryOp("arithmetic:mul", never),
    "aten.mul.Scalar": LibraryOp("arithmetic:mul", never),
    "aten.div.Tensor": LibraryOp("arithmetic:div", never),
    "aten.div.Scalar": LibraryOp("arithmetic:div", never),
    "aten.div.Tensor_mode": LibraryOp("arithmetic:div"),
    "aten.div.Scalar_mode": LibraryOp("arithmetic:div"),
    "aten.floor_divide.default": LibraryOp("arithmetic:floor_divide"),
    "aten.floor_divide.Scalar": LibraryOp("arithmetic:floor_divide"),
    "aten.remainder.Tensor": LibraryOp("arithmetic:remainder"),
    "aten.remainder.Scalar": LibraryOp("arithmetic:remainder"),
    "aten.fmod.Tensor": LibraryOp("arithmetic:fmod"),
    "aten.fmod.Scalar": LibraryOp("arithmetic:fmod"),
    "aten.remainder.Scalar_Tensor": LibraryOp("arithmetic:remainder"),
    "aten.pow.Tensor_Tensor": LibraryOp("arithmetic:power", is_integral),
    "aten.pow.Tensor_Scalar": LibraryOp("arithmetic:power", is_integral),
    "aten.pow.Scalar": LibraryOp("arithmetic:power", is_integral),
    "aten.hypot.default": LibraryOp("arithmetic:hypot"),
    "aten.atan2.default": LibraryOp("arithmetic:atan2"),
    "aten.logaddexp.default": LibraryOp("arithmetic:logaddexp"),
    "aten.logaddexp2.default": LibraryOp("arithmetic:logaddexp2"),
    "aten.xlogy.Tensor": LibraryOp("arithmetic:xlogy"),
    "aten.xlogy.Scalar_Other": LibraryOp("arithmetic:xlogy"),
    "aten.xlogy.Scalar_Self": LibraryOp("arithmetic:xlogy"),
    "aten.special_xlog1py.default": LibraryOp("arithmetic:xlog1py"),
    "aten.special_xlog1py.other_scalar": LibraryOp("arithmetic:xlog1py"),
    "aten.special_xlog1py.self_scalar": LibraryOp("arithmetic:xlog1py"),
    "aten.lerp.Scalar": LibraryOp("arithmetic:lerp", never),
    "aten.lerp.Tensor": LibraryOp("arithmetic:lerp", never),
    "aten.addcmul.default": LibraryOp("arithmetic:addcmul", never),
    "aten.addcdiv.default": LibraryOp("arithmetic:addcdiv"),
    # Torch-MLIR folds a comparison of a tensor with itself to true, where NaN is not equal to NaN.
    "aten.eq.Tensor": LibraryOp("comparison:eq"),
    "aten.eq.Scalar": LibraryOp("comparison:eq", is_unsigned_or_bool),
    "aten.ne.Tensor": LibraryOp("comparison:ne", is_unsigned_or_bool),
    "aten.ne.Scalar": LibraryOp("comparison:ne", is_unsigned_or_bool),
    "aten.lt.Tensor": LibraryOp("comparison:lt", is_unsigned_or_bool),
    "aten.lt.Scalar": LibraryOp("comparison:lt", is_unsigned_or_bool),
    "aten.le.Tensor": LibraryOp("comparison:le", is_unsigned_or_bool),
    "aten.le.Scalar": LibraryOp("comparison:le", is_unsigned_or_bool),
    "aten.gt.Tensor": LibraryOp("comparison:gt", is_unsigned_or_bool),
    "aten.gt.Scalar": LibraryOp("comparison:gt", is_unsigned_or_bool),
    "aten.ge.Tensor": LibraryOp("comparison:ge", is_unsigned_or_bool),
    "aten.ge.Scalar": LibraryOp("comparison:ge", is_unsigned_or_bool),
    "aten.maximum.default": LibraryOp("comparison:maximum", is_unsigned),
    "aten.minimum.default": LibraryOp("comparison:minimum", is_unsigned),
    "aten.bitwise_and.Tensor": LibraryOp("comparison:bitwise_and", never),
    "aten.bitwise_and.Scalar": LibraryOp("comparison:bitwise_and", never),
    "aten.bitwise_or.Tensor": LibraryOp("comparison:bitwise_or", never),
    "aten.bitwise_or.Scalar": LibraryOp("comparison:bitwise_or", never),
    "aten.bitwise_xor.Tensor": LibraryOp("comparison:bitwise_xor", never),
    "aten.bitwise_xor.Scalar": LibraryOp("comparison:bitwise_xor", never),
    "aten.bitwise_not.default": LibraryOp("comparison:bitwise_not", never),
    "aten.bitwise_left_shift.Tensor": LibraryOp("comparison:left_shift"),
    "aten.bitwise_left_shift.Tensor_Scalar": LibraryOp("comparison:left_shift"),
    "aten.bitwise_left_shift.Scalar_Tensor": LibraryOp("comparison:left_shift"),
    "aten.bitwise_right_shift.Tensor": LibraryOp("comparison:right_shift"),
    "aten.bitwise_right_shift.Tensor_Scalar": LibraryOp("comparison:right_shift"),
    "aten.bitwise_right_shift.Scalar_Tensor": LibraryOp("comparison:right_shift"),
    "aten.__lshift__.Tensor": LibraryOp("comparison:left_shift"),
    "aten.__lshift__.Scalar": LibraryOp("comparison:left_shift"),
    "aten.__rshift__.Tensor": LibraryOp("comparison:right_shift"),
    "aten.__rshift__.Scalar": LibraryOp("comparison:right_shift"),
    "aten.gcd.default": LibraryOp("comparison:gcd"),
    "aten.lcm.default": LibraryOp("comparison:lcm"),
    "aten.fmax.default": LibraryOp("comparison:fmax"),
    "aten.fmin.default": LibraryOp("comparison:fmin"),
    "aten.nextafter.default": LibraryOp("comparison:nextafter"),
    "aten.heaviside.default": LibraryOp("comparison:heaviside"),
    "aten.logical_and.default": LibraryOp("comparison:logical_and", never),
    "aten.logical_or.default": LibraryOp("comparison:logical_or", never),
    "aten.logical_xor.default": LibraryOp("comparison:logical_xor", never),
    "aten.logical_not.default": LibraryOp("comparison:logical_not", never),
    "aten.copysign.Tensor": LibraryOp("comparison:copysign"),
    "aten.copysign.Scalar": LibraryOp("comparison:copysign"),
    "aten.where.self": LibraryOp("comparison:where", never),
    "aten.where.ScalarSelf": LibraryOp("comparison:where", never),
    "aten.where.ScalarOther": LibraryOp("comparison:where", never),
    "aten.where.Scalar": LibraryOp("comparison:where", never),
    "aten.masked_fill.Scalar": LibraryOp("comparison:masked_fill", never),
    "aten.masked_fill.Tensor": LibraryOp("comparison:masked_fill", never),
    "aten.clamp.default": LibraryOp("comparison:clamp", is_unsigned),
    "aten.clamp.Tensor": LibraryOp("comparison:clamp"),
    "aten.clamp_min.default": LibraryOp("comparison:clamp_min", is_unsigned),
    "aten.clamp_min.Tensor": LibraryOp("comparison:clamp_min"),
    "aten.clamp_max.default": LibraryOp("comparison:clamp_max", is_unsigned),
    "aten.clamp_max.Tensor": LibraryOp("comparison:clamp_max"),
    "aten.isin.Tensor_Tensor": LibraryOp("comparison:isin"),
    "aten.isin.Tensor_Scalar": LibraryOp("comparison:isin"),
    "aten.isin.Scalar_Tensor": LibraryOp("comparison:isin"),
    "aten.isclose.default": LibraryOp("comparison:isclose"),
    "aten.exp.default": LibraryOp("unary:exp", never),
    "aten.exp2.default": LibraryOp("unary:exp2", never),
    "aten.expm1.default": LibraryOp("unary:expm1", never),
    "aten.log.default": LibraryOp("unary:log", never),
    "aten.log10.default": LibraryOp("unary:log10", never),
    "aten.log1p.default": LibraryOp("unary:log1p", never),
    "aten.sqrt.default": LibraryOp("unary:sqrt", never),
    "aten.rsqrt.default": LibraryOp("unary:rsqrt", never),
    "aten.sin.default": LibraryOp("unary:sin", never),
    "aten.cos.default": LibraryOp("unary:cos", never),
    "aten.tan.default": LibraryOp("unary:tan", never),
    "aten.sinh.default": LibraryOp("unary:sinh", never),
    "aten.cosh.default": LibraryOp("unary:cosh", never),
    "aten.tanh.default": LibraryOp("unary:tanh", never),
    "aten.asin.default": LibraryOp("unary:asin", never),
    "aten.acos.default": LibraryOp("unary:acos", never),
    "aten.atan.default": LibraryOp("unary:atan", never),
    "aten.sigmoid.default": LibraryOp("unary:sigmoid", never),
    "aten.silu.default": LibraryOp("unary:silu", never),
    "aten.reciprocal.default": LibraryOp("unary:reciprocal", never),
    "aten.erf.default": LibraryOp("unary:erf", never),
    "aten.log2.default": LibraryOp("unary:log2"),
    "aten.asinh.default": LibraryOp("unary:asinh"),
    "aten.acosh.default": LibraryOp("unary:acosh"),
    "aten.atanh.default": LibraryOp("unary:atanh"),
    "aten.sinc.default": LibraryOp("unary:sinc"),
    "aten.erfc.default": LibraryOp("unary:erfc"),
    "aten.erfinv.default": LibraryOp("unary:erfinv"),
    "aten.lgamma.default": LibraryOp("unary:lgamma"),
    "aten.digamma.default": LibraryOp("unary:digamma"),
    "aten.angle.default": LibraryOp("unary:angle"),
    "aten.sgn.default": LibraryOp("unary:sgn"),
    "aten.sign.default": LibraryOp("unary:sign"),
    "aten.frexp.Tensor": LibraryOp("unary:frexp"),
    "aten.special_entr.default": LibraryOp("unary:entr"),
    "aten.neg.default": LibraryOp("unary:neg", never),
    "aten.square.default": LibraryOp("unary:square", never),
    "aten.isnan.default": LibraryOp("unary:isnan", never),
    "aten.isinf.default": LibraryOp("unary:isinf", never),
    "aten.isfinite.default": LibraryOp("unary:isfinite", never),
    "aten.abs.default": LibraryOp("unary:absolute", never),
    "aten.floor.default": LibraryOp("unary:floor", is_integral),
    "aten.ceil.default": LibraryOp("unary:ceil", is_integral),
    "aten.trunc.default": LibraryOp("unary:trunc", is_integral),
    "aten.round.default": LibraryOp("unary:round", is_integral),
    "aten.round.decimals": LibraryOp("unary:round"),
    # Views, copies and joins.
    "aten.clone.default": LibraryOp("shapes:same", never),
    "aten.alias.default": LibraryOp("shapes:same", never),
    "aten.detach.default": LibraryOp("shapes:same", never),
    "aten._to_copy.default": LibraryOp("shapes:to_copy", makes_unsigned),
    "aten.view.default": LibraryOp("shapes:view", never),
    "aten.reshape.default": LibraryOp("shapes:view", never),
    "aten.view.dtype": LibraryOp("shapes:view_dtype", never),
    "aten.view_copy.default": LibraryOp("shapes:view"),
    "aten._unsafe_view.default": LibraryOp("shapes:view", never),
    "aten.permute.default": LibraryOp("shapes:permute", never),
    "aten.expand.default": LibraryOp("shapes:expand", never),
    "aten.unsqueeze.default": LibraryOp("shapes:unsqueeze", never),
    "aten.permute_copy.default": LibraryOp("shapes:permute"),
    "aten.expand_copy.default": LibraryOp("shapes:expand"),
    "aten.transpose.int": LibraryOp("shapes:transpose", never),
    "aten.t.default": LibraryOp("shapes:matrix_transpose", never),
    "aten.repeat.default": LibraryOp("shapes:repeat"),
    "aten.squeeze.default": LibraryOp("shapes:squeeze", never),
    "aten.squeeze.dim": LibraryOp("shapes:squeeze", never),
    "aten.squeeze.dims": LibraryOp("shapes:squeeze", never),
    "aten.select.int": LibraryOp("shapes:select", never),
    "aten.slice.Tensor": LibraryOp("shapes:slice_tensor", is_empty),
    "aten.slice_scatter.default": LibraryOp("shapes:slice_scatter", is_empty),
    "aten.select_scatter.default": LibraryOp("shapes:select_scatter", never),
    "aten.diagonal.default": LibraryOp("shapes:diagonal"),
    "aten.diagonal_scatter.default": LibraryOp("shapes:diagonal_scatter"),
    "aten.cat.default": LibraryOp("shapes:cat", is_empty),
    "aten.stack.default": LibraryOp("shapes:stack", never),
    "aten.split_with_sizes.default": LibraryOp("shapes:split_with_sizes", never),
    "aten.split.Tensor": LibraryOp("shapes:split", never),
    "aten.unbind.int": LibraryOp("shapes:unbind", never),
    "aten.unbind_copy.int": LibraryOp("shapes:unbind"),
    "aten.flip.default": LibraryOp("shapes:flip", has_scalar_operand),
    "aten.roll.default": LibraryOp("shapes:roll"),
    "aten.constant_pad_nd.default": LibraryOp("shapes:constant_pad_nd", is_empty),
    "aten.tril.default": LibraryOp("shapes:tril", never),
    "aten.triu.default": LibraryOp("shapes:triu", never),
    "aten.full.default": LibraryOp("shapes:full", never),
    "aten.arange.default": LibraryOp("ranges:arange", makes_unsigned, needs_results=True),
    "aten.arange.start": LibraryOp("ranges:arange", makes_unsigned, needs_results=True),
    "aten.arange.start_step": LibraryOp("ranges:arange", makes_unsigned, needs_results=True),
    "aten.linspace.default": LibraryOp("ranges:linspace"),
    "aten.linspace.Tensor_Tensor": LibraryOp("ranges:linspace"),
    "aten.linspace.Tensor_Scalar": LibraryOp("ranges:linspace"),
    "aten.linspace.Scalar_Tensor": LibraryOp("ranges:linspace"),
    "aten.logspace.default": LibraryOp("ranges:logspace"),
    "aten.triu_indices.default": LibraryOp("triangle:triu_indices"),
    "aten.tril_indices.default": LibraryOp("triangle:tril_indices"),
    "aten.full_like.default": LibraryOp("shapes:full_like", never),
    "aten.unfold.default": LibraryOp("shapes:unfold"),
    "aten.unfold_backward.default": LibraryOp("shapes:unfold_backward"),
    # Interpolation and sampling at positions.
    "aten.upsample_nearest1d.default": LibraryOp("interpolate:nearest"),
    "aten._upsample_nearest_exact1d.default": LibraryOp("interpolate:nearest_exact"),
    "aten.upsample_nearest1d_backward.default": LibraryOp("interpolate:nearest_backward"),
    "aten._upsample_nearest_exact1d_backward.default": LibraryOp(
        "interpolate:nearest_exact_backward"
    ),
    "aten.upsample_nearest2d.default": LibraryOp("interpolate:nearest"),
    "aten._upsample_nearest_exact2d.default": LibraryOp("interpolate:nearest_exact"),
    "aten.upsample_nearest2d_backward.default": LibraryOp("interpolate:nearest_backward"),
    "aten._upsample_nearest_exact2d_backward.default": LibraryOp(
        "interpolate:nearest_exact_backward"
    ),
    "aten.upsample_nearest3d.default": LibraryOp("interpolate:nearest"),
    "aten._upsample_nearest_exact3d.default": LibraryOp("interpolate:nearest_exact"),
    "aten.upsample_nearest3d_backward.default": LibraryOp("interpolate:nearest_backward"),
    "aten._upsample_nearest_exact3d_backward.default": LibraryOp(
        "interpolate:nearest_exact_backward"
    ),
    "aten.upsample_linear1d.default": LibraryOp("interpolate:linear"),
    "aten.upsample_linear1d_backward.default": LibraryOp("interpolate:linear_backward"),
    "aten.upsample_bilinear2d.default": LibraryOp("interpolate:linear"),
    "aten.upsample_bilinear2d_backward.default": LibraryOp("interpolate:linear_backward"),
    "aten.upsample_trilinear3d.default": LibraryOp("interpolate:linear"),
    "aten.upsample_trilinear3d_backward.default": LibraryOp("interpolate:linear_backward"),
    "aten.upsample_bicubic2d.default": LibraryOp("interpolate:cubic"),
    "aten.upsample_bicubic2d_backward.default": LibraryOp("interpolate:cubic_backward"),
    "aten._upsample_bilinear2d_aa.default": LibraryOp("interpolate:smooth_linear"),
    "aten._upsample_bilinear2d_aa_backward.default": LibraryOp(
        "interpolate:smooth_linear_backward"
    ),
    "aten._upsample_bicubic2d_aa.default": LibraryOp("interpolate:smooth_cubic"),
    "aten._upsample_bicubic2d_aa_backward.default": LibraryOp("interpolate:smooth_cubic_backward"),
    "aten._upsample_lanczos2d_aa.default": LibraryOp("interpolate:smooth_lanczos"),
    "aten._upsample_lanczos2d_aa_backward.default": LibraryOp(
        "interpolate:smooth_lanczos_backward"
    ),
    "aten.grid_sampler_2d.default": LibraryOp("grid:grid_sampler"),
    "aten.grid_sampler_2d_backward.default": LibraryOp("grid:grid_sampler_backward"),
    "aten.grid_sampler_3d.default": LibraryOp("grid:grid_sampler"),
    "aten.grid_sampler_3d_backward.default": LibraryOp("grid:grid_sampler_backward"),
    # Linear algebra.
    "aten.linalg_cholesky_ex.default": LibraryOp("decompositions:cholesky_ex"),
    "aten.cholesky.default": LibraryOp("decompositions:cholesky"),
    "aten.linalg_qr.default": LibraryOp("decompositions:qr"),
    "aten.geqrf.default": LibraryOp("decompositions:geqrf"),
    "aten.linalg_householder_product.default": LibraryOp("decompositions:householder_product"),
    "aten._linalg_svd.default": LibraryOp("decompositions:svd"),
    "aten._linalg_eigh.default": LibraryOp("decompositions:eigh"),
    "aten.linalg_eig.default": LibraryOp("decompositions:eig"),
    "aten._linalg_eigvals.default": LibraryOp("decompositions:eigvals"),
    "aten.linalg_lu_factor_ex.default": LibraryOp("decompositions:lu_factor_ex"),
    "aten.linalg_lu.default": LibraryOp("decompositions:lu"),
    "aten.lu_unpack.default": LibraryOp("decompositions:lu_unpack"),
    "aten._linalg_det.default": LibraryOp("decompositions:det", needs_strides=True),
    "aten._linalg_slogdet.default": LibraryOp("decompositions:slogdet", needs_strides=True),
    "aten.linalg_solve_triangular.default": LibraryOp("solvers:solve_triangular"),
    "aten.triangular_solve.default": LibraryOp("solvers:triangular_solve"),
    "aten.linalg_lu_solve.default": LibraryOp("solvers:lu_solve"),
    "aten._linalg_solve_ex.default": LibraryOp("solvers:solve_ex"),
    "aten.linalg_ldl_factor_ex.default": LibraryOp("bunch_kaufman:ldl_factor_ex"),
    "aten.linalg_ldl_solve.default": LibraryOp("bunch_kaufman:ldl_solve"),
    "aten.linalg_inv_ex.default": LibraryOp("solvers:inv_ex"),
    "aten.cholesky_solve.default": LibraryOp("solvers:cholesky_solve"),
    "aten.cholesky_inverse.default": LibraryOp("solvers:cholesky_inverse"),
    "aten.linalg_matrix_exp.default": LibraryOp("solvers:matrix_exp"),
    "aten.ormqr.default": LibraryOp("solvers:ormqr"),
    "aten.linalg_pinv.atol_rtol_tensor": LibraryOp("solvers:pinv"),
    "aten.linalg_pinv.atol_rtol_float": LibraryOp("solvers:pinv"),
    # Special functions.
    "aten.special_airy_ai.default": LibraryOp("bessel:airy_ai"),
    "aten.special_bessel_j0.default": LibraryOp("bessel:bessel_j0"),
    "aten.special_bessel_j1.default": LibraryOp("bessel:bessel_j1"),
    "aten.special_bessel_y0.default": LibraryOp("bessel:bessel_y0"),
    "aten.special_bessel_y1.default": LibraryOp("bessel:bessel_y1"),
    "aten.special_modified_bessel_k0.default": LibraryOp("bessel:modified_bessel_k0"),
    "aten.special_modified_bessel_k1.default": LibraryOp("bessel:modified_bessel_k1"),
    "aten.special_scaled_modified_bessel_k0.default": LibraryOp("bessel:scaled_modified_bessel_k0"),
    "aten.special_scaled_modified_bessel_k1.default": LibraryOp("bessel:scaled_modified_bessel_k1"),
    "aten.special_spherical_bessel_j0.default": LibraryOp("bessel:spherical_bessel_j0"),
    "aten.special_i0e.default": LibraryOp("bessel:i0e"),
    "aten.special_i1.default": LibraryOp("bessel:i1"),
    "aten.special_i1e.default": LibraryOp("bessel:i1e"),
    "aten.special_modified_bessel_i0.default": LibraryOp("bessel:i0"),
    "aten.special_modified_bessel_i1.default": LibraryOp("bessel:i1"),
    "aten.i0.default": LibraryOp("bessel:i0"),
    "aten.special_ndtri.default": LibraryOp("special:ndtri"),
    "aten.special_log_ndtr.default": LibraryOp("special:log_ndtr"),
    "aten.special_erfcx.default": LibraryOp("special:erfcx"),
    "aten.special_zeta.default": LibraryOp("special:zeta"),
    "aten.special_zeta.other_scalar": LibraryOp("special:zeta"),
    "aten.special_zeta.self_scalar": LibraryOp("special:zeta"),
    "aten.polygamma.default": LibraryOp("special:polygamma"),
    "aten.igamma.default": LibraryOp("special:igamma"),
    "aten.igammac.default": LibraryOp("special:igammac"),
    "aten.mvlgamma.default": LibraryOp("special:mvlgamma"),
    "aten.special_chebyshev_polynomial_t.default": LibraryOp("polynomials:chebyshev_t"),
    "aten.special_chebyshev_polynomial_t.x_scalar": LibraryOp("polynomials:chebyshev_t"),
    "aten.special_chebyshev_polynomial_t.n_scalar": LibraryOp("polynomials:chebyshev_t"),
    "aten.special_chebyshev_polynomial_u.default": LibraryOp("polynomials:chebyshev_u"),
    "aten.special_chebyshev_polynomial_u.x_scalar": LibraryOp("polynomials:chebyshev_u"),
    "aten.special_chebyshev_polynomial_u.n_scalar": LibraryOp("polynomials:chebyshev_u"),
    "aten.special_chebyshev_polynomial_v.default": LibraryOp("polynomials:chebyshev_v"),
    "aten.special_chebyshev_polynomial_v.x_scalar": LibraryOp("polynomials:chebyshev_v"),
    "aten.special_chebyshev_polynomial_v.n_scalar": LibraryOp("polynomials:chebyshev_v"),
    "aten.special_chebyshev_polynomial_w.default": LibraryOp("polynomials:chebyshev_w"),
    "aten.special_chebyshev_polynomial_w.x_scalar": LibraryOp("polynomials:chebyshev_w"),
    "aten.special_chebyshev_polynomial_w.n_scalar": LibraryOp("polynomials:chebyshev_w"),
    "aten.special_shifted_chebyshev_polynomial_t.default": LibraryOp(
        "polynomials:shifted_chebyshev_t"
    ),
    "aten.special_shifted_chebyshev_polynomial_t.x_scalar": LibraryOp(
        "polynomials:shifted_chebyshev_t"
    ),
    "aten.special_shifted_chebyshev_polynomial_t.n_scalar": LibraryOp(
        "polynomials:shifted_chebyshev_t"
    ),
    "aten.special_shifted_chebyshev_polynomial_u.default": LibraryOp(
        "polynomials:shifted_chebyshev_u"
    ),
    "aten.special_shifted_chebyshev_polynomial_u.x_scalar": LibraryOp(
        "polynomials:shifted_chebyshev_u"
    ),
    "aten.special_shifted_chebyshev_polynomial_u.n_scalar": LibraryOp(
        "polynomials:shifted_chebyshev_u"
    ),
    "aten.special_shifted_chebyshev_polynomial_v.default": LibraryOp(
        "polynomials:shifted_chebyshev_v"
    ),
    "aten.special_shifted_chebyshev_polynomial_v.x_scalar": LibraryOp(
        "polynomials:shifted_chebyshev_v"
    ),
    "aten.special_shifted_chebyshev_polynomial_v.n_scalar": LibraryOp(
        "polynomials:shifted_chebyshev_v"
    ),
    "aten.special_shifted_chebyshev_polynomial_w.default": LibraryOp(
        "polynomials:shifted_chebyshev_w"
    ),
    "aten.special_shifted_chebyshev_polynomial_w.x_scalar": LibraryOp(
        "polynomials:shifted_chebyshev_w"
    ),
    "aten.special_shifted_chebyshev_polynomial_w.n_scalar": LibraryOp(
        "polynomials:shifted_chebyshev_w"
    ),
    "aten.special_hermite_polynomial_h.default": LibraryOp("polynomials:hermite_h"),
    "aten.special_hermite_polynomial_h.x_scalar": LibraryOp("polynomials:hermite_h"),
    "aten.special_hermite_polynomial_h.n_scalar": LibraryOp("polynomials:hermite_h"),
    "aten.special_hermite_polynomial_he.default": LibraryOp("polynomials:hermite_he"),
    "aten.special_hermite_polynomial_he.x_scalar": LibraryOp("polynomials:hermite_he"),
    "aten.special_hermite_polynomial_he.n_scalar": LibraryOp("polynomials:hermite_he"),
    "aten.special_laguerre_polynomial_l.default": LibraryOp("polynomials:laguerre_l"),
    "aten.special_laguerre_polynomial_l.x_scalar": LibraryOp("polynomials:laguerre_l"),
    "aten.special_laguerre_polynomial_l.n_scalar": LibraryOp("polynomials:laguerre_l"),
    "aten.special_legendre_polynomial_p.default": LibraryOp("polynomials:legendre_p"),
    "aten.special_legendre_polynomial_p.x_scalar": LibraryOp("polynomials:legendre_p"),
    "aten.special_legendre_polynomial_p.n_scalar": LibraryOp("polynomials:legendre_p"),
    # Sorted sequences and histograms.
    "aten.searchsorted.Tensor": LibraryOp("searching:searchsorted"),
    "aten.bucketize.Tensor": LibraryOp("searching:bucketize"),
    "aten.searchsorted.Scalar": LibraryOp("searching:searchsorted"),
    "aten.bucketize.Scalar": LibraryOp("searching:bucketize"),
    "aten.histc.default": LibraryOp("searching:histc"),
    "aten.nonzero_static.default": LibraryOp("searching:nonzero_static"),
    "aten.repeat_interleave.Tensor": LibraryOp("searching:repeat_interleave"),
    "aten.bincount.default": LibraryOp("searching:bincount"),
    "aten.histogram.bin_ct": LibraryOp("searching:histogram_count"),
    "aten.histogram.bins_tensor": LibraryOp("searching:histogram_edges"),
    "aten._histogramdd_bin_edges.default": LibraryOp("searching:histogramdd_edges"),
    "aten._histogramdd_from_bin_cts.default": LibraryOp("searching:histogramdd_counts"),
    "aten._histogramdd_from_bin_tensors.default": LibraryOp("searching:histogramdd_tensors"),
    # Padding, strides, sliding blocks, distances.
    "aten.reflection_pad1d.default": LibraryOp("padding:reflection"),
    "aten.reflection_pad1d_backward.default": LibraryOp("padding:reflection_backward"),
    "aten.replication_pad1d.default": LibraryOp("padding:replication"),
    "aten.replication_pad1d_backward.default": LibraryOp("padding:replication_backward"),
    "aten.reflection_pad2d.default": LibraryOp("padding:reflection"),
    "aten.reflection_pad2d_backward.default": LibraryOp("padding:reflection_backward"),
    "aten.replication_pad2d.default": LibraryOp("padding:replication"),
    "aten.replication_pad2d_backward.default": LibraryOp("padding:replication_backward"),
    "aten.reflection_pad3d.default": LibraryOp("padding:reflection"),
    "aten.reflection_pad3d_backward.default": LibraryOp("padding:reflection_backward"),
    "aten.replication_pad3d.default": LibraryOp("padding:replication"),
    "aten.replication_pad3d_backward.default": LibraryOp("padding:replication_backward"),
    "aten._pad_circular.default": LibraryOp("padding:circular"),
    "aten.as_strided.default": LibraryOp("strided:as_strided"),
    "aten.as_strided_scatter.default": LibraryOp("strided:as_strided_scatter"),
    "aten.as_strided_copy.default": LibraryOp("strided:as_strided"),
    "aten.im2col.default": LibraryOp("folding:im2col"),
    "aten.col2im.default": LibraryOp("folding:col2im"),
    "aten._cdist_forward.default": LibraryOp("distances:cdist"),
    "aten._cdist_backward.default": LibraryOp("distances:cdist_backward"),
    "aten._pdist_forward.default": LibraryOp("distances:pdist"),
    "aten._pdist_backward.default": LibraryOp("distances:pdist_backward"),
    # Matrix products.
    "aten.mm.default": LibraryOp("products:mm", never),
    "aten.bmm.default": LibraryOp("products:mm", never),
    "aten.mv.default": LibraryOp("products:mm", never),
    "aten.dot.default": LibraryOp("products:mm", never),
    "aten.vdot.default": LibraryOp("products:vdot"),
    "aten.addmm.default": LibraryOp("products:add_product", never),
    "aten.baddbmm.default": LibraryOp("products:add_product", never),
    "aten.addmv.default": LibraryOp("products:add_product"),
    "aten.addbmm.default": LibraryOp("products:addbmm"),
    "aten.addr.default": LibraryOp("products:addr"),
    "aten.dist.default": LibraryOp("products:dist"),
    "aten._trilinear.default": LibraryOp("products:trilinear"),
    # Losses.
    "aten._ctc_loss.default": LibraryOp("ctc:loss", needs_results=True),
    "aten._ctc_loss.Tensor": LibraryOp("ctc:loss", needs_results=True),
    "aten._ctc_loss_backward.default": LibraryOp("ctc:loss_backward"),
    "aten._ctc_loss_backward.Tensor": LibraryOp("ctc:loss_backward"),
    # Quantization.
    "aten.fake_quantize_per_tensor_affine.default": LibraryOp("quantize:fake_per_tensor"),
    "aten.fake_quantize_per_tensor_affine.tensor_qparams": LibraryOp("quantize:fake_per_tensor"),
    "aten.fake_quantize_per_tensor_affine_cachemask.default": LibraryOp(
        "quantize:fake_per_tensor_with_mask"
    ),
    "aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default": LibraryOp(
        "quantize:fake_per_tensor_if_enabled"
    ),
    "aten.fake_quantize_per_channel_affine.default": LibraryOp("quantize:fake_per_channel"),
    "aten.fake_quantize_per_channel_affine_cachemask.default": LibraryOp(
        "quantize:fake_per_channel_with_mask"
    ),
    "quantized_decomposed.quantize_per_tensor.default": LibraryOp("quantize:quantize_per_tensor"),
    "quantized_decomposed.quantize_per_tensor.tensor": LibraryOp("quantize:quantize_per_tensor"),
    "quantized_decomposed.quantize_per_tensor.tensor2": LibraryOp("quantize:quantize_per_tensor"),
    "quantized_decomposed.dequantize_per_tensor.default": LibraryOp(
        "quantize:dequantize_per_tensor"
    ),
    "quantized_decomposed.dequantize_per_tensor.tensor": LibraryOp(
        "quantize:dequantize_per_tensor"
    ),
    "quantized_decomposed.dequantize_per_tensor.tensor2": LibraryOp(
        "quantize:dequantize_per_tensor"
    ),
    "quantized_decomposed.quantize_per_channel.default": LibraryOp("quantize:quantize_per_channel"),
    "quantized_decomposed.dequantize_per_channel.default": LibraryOp(
        "quantize:dequantize_per_channel"
    ),
    "quantized_decomposed.quantize_per_token.default": LibraryOp("quantize:quantize_per_token"),
    "quantized_decomposed.dequantize_per_token.default": LibraryOp("quantize:dequantize_per_token"),
    "neuron_compile.one_hot.default": LibraryOp("comparison:one_hot"),
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
    "neuron_compile.scaled_normal.default": LibraryOp("random_numbers:scaled_normal"),
    "neuron_compile.bernoulli.default": LibraryOp("random_numbers:bernoulli"),
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
    if entry is None or forced or entry.takes is None or is_library_only(operands, results):
        return entry
    if has_unsigned(operands, results):
        return entry
    return entry if entry.takes(Request(operator, arguments, operands, results)) else None


def has_unsigned(
    operands: Sequence[TensorSpec | None], results: Sequence[TensorSpec | None]
) -> bool:
    """Whether there is a tensor of unsigned integers.

    Torch-MLIR compares them as signed ones, and folds constants of them into a literal that it
    cannot legalize.
    """
    tensors = [spec for spec in (*operands, *results) if spec is not None]
    return any(spec.dtype.startswith("uint") for spec in tensors)


def is_library_only(
    operands: Sequence[TensorSpec | None], results: Sequence[TensorSpec | None]
) -> bool:
    """Whether Torch-MLIR must not see a call with tensors of these types, whatever its operator.

    It gives wrong numbers for some operators on complex tensors, and ends the process for others.
    """
    tensors = [spec for spec in (*operands, *results) if spec is not None]
    return any(spec.dtype.startswith("complex") for spec in tensors)
