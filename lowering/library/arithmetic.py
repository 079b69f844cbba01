"""Arithmetic of two tensors, or of a tensor and a number, with PyTorch's promotion."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.precision import is_complex, is_float, widen
from neuron_compile.lowering.library.promotion import promoted, promoted_floats, result_type
from neuron_compile.lowering.library.refusal import Refused


def add(self: Any, other: Any, alpha: Any = 1) -> Any:
    """`aten.add`."""
    left, right = _wide(self, other)
    return left + (right if alpha == 1 else right * jnp.asarray(alpha).astype(right.dtype))


def sub(self: Any, other: Any, alpha: Any = 1) -> Any:
    """`aten.sub`."""
    left, right = _wide(self, other)
    return left - (right if alpha == 1 else right * jnp.asarray(alpha).astype(right.dtype))


def rsub(self: Any, other: Any, alpha: Any = 1) -> Any:
    """`aten.rsub`: `other - alpha * self`."""
    return sub(other, self, alpha)


def mul(self: Any, other: Any) -> Any:
    """`aten.mul`."""
    left, right = _wide(self, other)
    return left * right


def div(self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """`aten.div`, true, truncated or floored."""
    if rounding_mode is None:
        left, right = promoted_floats(self, other)
        return left / right
    if rounding_mode == "floor":
        return floor_divide(self, other)
    left, right = jnp.broadcast_arrays(*_wide(self, other))
    return jnp.trunc(left / right) if is_float(left) else lax.div(left, right)


def floor_divide(self: Any, other: Any) -> Any:
    """`aten.floor_divide`: rounded towards minus infinity."""
    left, right = jnp.broadcast_arrays(*_wide(self, other))
    if not is_float(left):
        return jnp.floor_divide(left, right)
    remainder = lax.rem(left, right)
    differs = (remainder != 0) & ((right < 0) != (remainder < 0))
    quotient = (left - remainder) / right - differs.astype(left.dtype)
    floored = jnp.floor(quotient)
    floored = floored + (quotient - floored > 0.5).astype(left.dtype)
    signed_zero = jnp.copysign(jnp.zeros_like(left), left / right)
    return jnp.where(right == 0, left / right, jnp.where(quotient == 0, signed_zero, floored))


def remainder(self: Any, other: Any) -> Any:
    """`aten.remainder`: of the divisor's sign."""
    left, right = jnp.broadcast_arrays(*_wide(self, other))
    rest = lax.rem(left, right)
    return jnp.where((rest != 0) & ((rest < 0) != (right < 0)), rest + right, rest)


def fmod(self: Any, other: Any) -> Any:
    """`aten.fmod`: of the dividend's sign."""
    left, right = jnp.broadcast_arrays(*_wide(self, other))
    return lax.rem(left, right)


def power(self: Any, exponent: Any) -> Any:
    """`aten.pow`: integers wrap around, and a negative integer exponent truncates."""
    base, power = _wide(self, exponent)
    if is_float(base) or is_complex(base):
        if not hasattr(exponent, "dtype") and exponent == 2:
            return base * base
        return jnp.power(base, power)
    base, power = jnp.broadcast_arrays(base, power)
    if not jnp.issubdtype(power.dtype, jnp.signedinteger):
        return _integer_power(base, power)
    one = jnp.ones_like(base)
    sign = jnp.where(power % 2 == 0, one, -one)
    inverse = jnp.where(base == 1, one, jnp.where(base == -1, sign, 0))
    return jnp.where(power < 0, inverse, _integer_power(base, jnp.abs(power)))


def hypot(self: Any, other: Any) -> Any:
    """`aten.hypot`."""
    return jnp.hypot(*promoted_floats(self, other))


def atan2(self: Any, other: Any) -> Any:
    """`aten.atan2`."""
    return jnp.arctan2(*promoted_floats(self, other))


def logaddexp(self: Any, other: Any) -> Any:
    """`aten.logaddexp`."""
    return jnp.logaddexp(*promoted_floats(self, other))


def logaddexp2(self: Any, other: Any) -> Any:
    """`aten.logaddexp2`."""
    return jnp.logaddexp2(*promoted_floats(self, other))


def xlogy(self: Any, other: Any) -> Any:
    """`aten.xlogy`: 0 where `self` is 0 and `other` no NaN."""
    left, right = promoted_floats(self, other)
    product = left * jnp.log(right)
    return jnp.where(right != right, right, jnp.where(left == 0, 0, product))


def xlog1py(self: Any, other: Any) -> Any:
    """`aten.special_xlog1py`: 0 where `self` is 0 and `other` no NaN."""
    left, right = promoted_floats(self, other)
    product = left * jnp.log1p(right)
    return jnp.where(right != right, right, jnp.where(left == 0, 0, product))


def lerp(self: Any, end: Any, weight: Any) -> Any:
    """`aten.lerp`: from the nearer end, as PyTorch, so that a weight of 1 gives `end` exactly."""
    dtype = result_type(self, end)
    start, stop = (widen(value.astype(dtype)) for value in (self, end))
    share = jnp.asarray(weight).astype(start.dtype)
    nearer = jnp.abs(share) < 0.5
    way = stop - start
    return jnp.where(nearer, start + share * way, stop - way * (1 - share))


def addcmul(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """`aten.addcmul`: `self + value * tensor1 * tensor2`."""
    base, left, right = _wide(self, tensor1, tensor2)
    return base + jnp.asarray(value).astype(base.dtype) * left * right


def addcdiv(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """`aten.addcdiv`: `self + value * tensor1 / tensor2`."""
    base, left, right = promoted_floats(self, tensor1, tensor2)
    return base + jnp.asarray(value).astype(base.dtype) * (left / right)


def _wide(*values: Any) -> list[Any]:
    arrays = promoted(*values)
    if arrays[0].dtype == jnp.bool_:
        # The product and sum of bool are `and` and `or`, which JAX computes as such.
        return arrays
    return [widen(array) for array in arrays]


def _integer_power(base: Any, power: Any) -> Any:
    if base.dtype == jnp.bool_:
        raise Refused("a power of bool is not defined.")

    def square(number: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        result, factor = state
        is_set = (power >> jnp.asarray(number, power.dtype)) & 1 == 1
        return jnp.where(is_set, result * factor, result), factor * factor

    bits = jnp.iinfo(power.dtype).bits
    return lax.fori_loop(0, bits, square, (jnp.ones_like(base), base))[0]
