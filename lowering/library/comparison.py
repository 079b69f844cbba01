"""Comparisons, extremes of two tensors, selection, and the bits of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.precision import is_float, widen
from neuron_compile.lowering.library.promotion import promoted, promoted_floats


def _compared(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def compare(self: Any, other: Any) -> Any:
        return function(*promoted(self, other))

    return compare


eq = _compared(jnp.equal)
ne = _compared(jnp.not_equal)
lt = _compared(jnp.less)
le = _compared(jnp.less_equal)
gt = _compared(jnp.greater)
ge = _compared(jnp.greater_equal)
maximum = _compared(jnp.maximum)
minimum = _compared(jnp.minimum)
bitwise_and = _compared(jnp.bitwise_and)
bitwise_or = _compared(jnp.bitwise_or)
bitwise_xor = _compared(jnp.bitwise_xor)
gcd = _compared(jnp.gcd)


def one_hot(classes: Any, num_classes: int) -> Any:
    """`neuron_compile.one_hot`: int64, 1 at the class, in a dimension of `num_classes` at the
    end."""
    numbers = lax.iota(classes.dtype, num_classes)
    return (classes[..., None] == numbers).astype(jnp.int64)


def lcm(self: Any, other: Any) -> Any:
    """`aten.lcm`: 0 where either is 0."""
    left, right = promoted(self, other)
    divisor = jnp.gcd(left, right)
    return jnp.abs(lax.div(left, jnp.where(divisor == 0, 1, divisor)) * right)


def fmax(self: Any, other: Any) -> Any:
    """`aten.fmax`: the number where one is NaN."""
    left, right = promoted(self, other)
    return jnp.where(right != right, left, jnp.where(left != left, right, jnp.maximum(left, right)))


def fmin(self: Any, other: Any) -> Any:
    """`aten.fmin`: the number where one is NaN."""
    left, right = promoted(self, other)
    return jnp.where(right != right, left, jnp.where(left != left, right, jnp.minimum(left, right)))


def left_shift(self: Any, other: Any) -> Any:
    """`aten.bitwise_left_shift`: 0 for an amount beyond the width, or a negative one."""
    return lax.shift_left(*jnp.broadcast_arrays(*promoted(self, other)))


def right_shift(self: Any, other: Any) -> Any:
    """`aten.bitwise_right_shift`: the sign for an amount beyond the width, or a negative one."""
    left, right = jnp.broadcast_arrays(*promoted(self, other))
    is_signed = jnp.issubdtype(left.dtype, jnp.signedinteger)
    shift = lax.shift_right_arithmetic if is_signed else lax.shift_right_logical
    return shift(left, right)


def bitwise_not(self: Any) -> Any:
    """`aten.bitwise_not`."""
    return jnp.bitwise_not(self)


def logical_and(self: Any, other: Any) -> Any:
    """`aten.logical_and`."""
    return (self != 0) & (other != 0)


def logical_or(self: Any, other: Any) -> Any:
    """`aten.logical_or`."""
    return (self != 0) | (other != 0)


def logical_xor(self: Any, other: Any) -> Any:
    """`aten.logical_xor`."""
    return (self != 0) ^ (other != 0)


def logical_not(self: Any) -> Any:
    """`aten.logical_not`."""
    return self == 0


def where(condition: Any, self: Any, other: Any) -> Any:
    """`aten.where`."""
    return jnp.where(condition != 0, *promoted(self, other))


def masked_fill(self: Any, mask: Any, value: Any) -> Any:
    """`aten.masked_fill`."""
    return jnp.where(mask, jnp.asarray(value).astype(self.dtype), self)


def clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    """`aten.clamp`: NaN stays, and where the bounds cross the upper one holds."""
    given = [bound for bound in (min, max) if bound is not None]
    array, *bounds = promoted(self, *given)
    if min is not None:
        array = jnp.maximum(array, bounds.pop(0))
    return jnp.minimum(array, bounds[0]) if max is not None else array


def clamp_min(self: Any, min: Any) -> Any:
    """`aten.clamp_min`."""
    return clamp(self, min)


def clamp_max(self: Any, max: Any) -> Any:
    """`aten.clamp_max`."""
    return clamp(self, None, max)


def copysign(self: Any, other: Any) -> Any:
    """`aten.copysign`."""
    return jnp.copysign(*promoted_floats(self, other))


def nextafter(self: Any, other: Any) -> Any:
    """`aten.nextafter`."""
    return jnp.nextafter(*promoted(self, other))


def heaviside(self: Any, values: Any) -> Any:
    """`aten.heaviside`: `values` at 0; 0 for NaN."""
    array, at_zero = promoted(self, values)
    return jnp.where(array == 0, at_zero, (array > 0).astype(array.dtype))


def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Any:
    """`aten.isin` of two tensors, or of a tensor and a number."""
    values, tests = promoted(elements, test_elements)
    ordered = jnp.sort(tests.reshape(-1))
    if ordered.size == 0:
        return jnp.full(values.shape, invert)
    place = jnp.minimum(jnp.searchsorted(ordered, values), ordered.size - 1)
    return (ordered[place] == values) ^ invert


def isclose(
    self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """`aten.isclose`."""
    left, right = promoted(self, other)
    close = left == right
    if equal_nan and is_float(left):
        close |= (left != left) & (right != right)
    wide = [
        widen(a) if jnp.issubdtype(a.dtype, jnp.inexact) else a.astype(jnp.float64)
        for a in (left, right)
    ]
    distance, allowed = jnp.abs(wide[0] - wide[1]), atol + jnp.abs(rtol * wide[1])
    return close | (jnp.isfinite(distance) & (distance <= allowed))
