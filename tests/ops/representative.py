"""The cases that run in the default tier: one or two of each kind."""

from __future__ import annotations

from typing import Final

_FLOAT32: Final = """
    add sub mul div.floor_rounding remainder fmod pow atan2 maximum where clamp lerp addcmul
    exp log1p tanh sigmoid erf lgamma sgn signbit nan_to_num
    sum mean prod var_mean amax argmax logsumexp cumsum cumprod all std norm
    matmul bmm addmm linalg.vector_norm linalg.cholesky linalg.solve
    sort topk kthvalue gather scatter_add index_select index_put take_along_dim masked_fill
    cat stack split flip roll tril diagonal expand permute unfold as_strided
    softmax nn.functional.layer_norm nn.functional.group_norm nn.functional.batch_norm
    nn.functional.conv2d nn.functional.max_pool2d nn.functional.avg_pool2d
    nn.functional.cross_entropy nn.functional.embedding nn.functional.gelu
    nn.functional.interpolate.bilinear nn.functional.pad.reflect nn.functional.dropout fft.rfft
"""
_OTHERS: Final = {
    "bfloat16": "sum softmax nn.functional.layer_norm mul",
    "float16": "mean add",
    "int64": "floor_divide remainder bitwise_left_shift sum argmax",
    "int32": "pow cumsum",
    "uint8": "add max.reduction_with_dim sub",
    "bool": "logical_and any sum",
    "complex64": "mul abs fft.fft",
}

REPRESENTATIVE: Final = frozenset(
    [(name, "float32") for name in _FLOAT32.split()]
    + [(name, dtype) for dtype, names in _OTHERS.items() for name in names.split()]
)
