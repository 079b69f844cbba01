"""Quantization to integers, back, and both at once (fake quantization)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from neuron_compile.lowering.library.precision import widen


def fake_per_tensor(self: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int) -> Any:
    """`aten.fake_quantize_per_tensor_affine`."""
    return fake_per_tensor_with_mask(self, scale, zero_point, quant_min, quant_max)[0]


def fake_per_tensor_with_mask(
    self: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> tuple[Any, Any]:
    """`aten.fake_quantize_per_tensor_affine_cachemask`: also where nothing was clipped."""
    step, zero = _number(scale).astype(jnp.float32), _number(zero_point).astype(jnp.float32)
    place = jnp.round(widen(self) * (1 / step)) + zero
    inside = (place >= quant_min) & (place <= quant_max)
    # NaN is clipped to the smallest value.
    low = jnp.where(place >= quant_min, place, quant_min)
    return (jnp.minimum(low, quant_max) - zero) * step, inside


def fake_per_tensor_if_enabled(
    self: Any,
    scale: Any,
    zero_point: Any,
    fake_quant_enabled: Any,
    quant_min: int,
    quant_max: int,
) -> tuple[Any, Any]:
    """`aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams`."""
    rounded, inside = fake_per_tensor_with_mask(self, scale, zero_point, quant_min, quant_max)
    enabled = fake_quant_enabled.reshape(()) != 0
    return jnp.where(enabled, rounded, widen(self)), inside | ~enabled


def fake_per_channel(
    self: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> Any:
    """`aten.fake_quantize_per_channel_affine`."""
    return fake_per_channel_with_mask(self, scale, zero_point, axis, quant_min, quant_max)[0]


def fake_per_channel_with_mask(
    self: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> tuple[Any, Any]:
    """`aten.fake_quantize_per_channel_affine_cachemask`: also where nothing was clipped.

    A floating-point zero point is added before rounding, an integer after.
    """
    array = widen(self)
    step, zero = (_along(values, self, axis) for values in (scale, zero_point))
    steps = array * (1 / step.astype(jnp.float32))
    if jnp.issubdtype(zero.dtype, jnp.floating):
        place = _whole(jnp.round(steps + zero))
    else:
        place = _whole(jnp.round(steps) + zero.astype(steps.dtype))
    inside = (place >= quant_min) & (place <= quant_max)
    clipped = jnp.clip(place, quant_min, quant_max).astype(array.dtype)
    return (clipped - zero.astype(array.dtype)) * step.astype(array.dtype), inside


def quantize_per_tensor(
    input: Any, scale: Any, zero_point: Any, quant_min: Any, quant_max: Any, dtype: Any
) -> Any:
    """`quantized_decomposed.quantize_per_tensor`."""
    bounds = _number(quant_min), _number(quant_max)
    return _quantized(input, _number(scale), _number(zero_point), bounds, dtype)


def dequantize_per_tensor(
    input: Any,
    scale: Any,
    zero_point: Any,
    quant_min: Any,
    quant_max: Any,
    dtype: Any,
    *,
    out_dtype: Any | None = None,
) -> Any:
    """`quantized_decomposed.dequantize_per_tensor`."""
    dtype = jnp.float32 if out_dtype is None else out_dtype
    return (input.astype(dtype) - _number(zero_point)) * _number(scale)


def quantize_per_channel(
    input: Any,
    scales: Any,
    zero_points: Any,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: Any,
) -> Any:
    """`quantized_decomposed.quantize_per_channel`."""
    steps, zeros = (_along(values, input, axis) for values in (scales, zero_points))
    return _quantized(input, steps, zeros, (quant_min, quant_max), dtype)


def dequantize_per_channel(
    input: Any,
    scales: Any,
    zero_points: Any | None,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: Any,
    *,
    out_dtype: Any | None = None,
) -> Any:
    """`quantized_decomposed.dequantize_per_channel`."""
    zeros = 0 if zero_points is None else _along(zero_points, input, axis)
    return (input.astype(jnp.float32) - zeros) * _along(scales, input, axis)


def quantize_per_token(
    input: Any, scales: Any, zero_points: Any, quant_min: int, quant_max: int, dtype: Any
) -> Any:
    """`quantized_decomposed.quantize_per_token`: a scale for each row."""
    place = jnp.round(widen(input) * (1.0 / scales) + zero_points)
    return jnp.clip(place, quant_min, quant_max).astype(dtype)


def dequantize_per_token(
    input: Any,
    scales: Any,
    zero_points: Any,
    quant_min: int,
    quant_max: int,
    dtype: Any,
    output_dtype: Any = None,
) -> Any:
    """`quantized_decomposed.dequantize_per_token`."""
    return (input.astype(jnp.float32) - zero_points) * scales


def _whole(values: Any) -> Any:
    # What an int64 cannot hold becomes the smallest one, as x86 converts it.
    fits = (values >= -(2.0**63)) & (values < 2.0**63)
    return jnp.where(fits, values, -(2.0**63)).astype(jnp.int64)


def _quantized(input: Any, scale: Any, zero_point: Any, bounds: Sequence[Any], dtype: Any) -> Any:
    inverse = (1.0 / scale.astype(jnp.float64)).astype(jnp.float32)
    place = jnp.round(widen(input) * inverse) + zero_point
    return jnp.minimum(jnp.maximum(place, bounds[0]), bounds[1]).astype(dtype)


def _number(value: Any) -> Any:
    return value.reshape(()) if hasattr(value, "reshape") else jnp.asarray(value)


def _along(values: Any, tensor: Any, axis: int) -> Any:
    shape = [1] * tensor.ndim
    shape[axis] = values.shape[0]
    return values.reshape(shape)
