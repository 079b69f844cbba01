"""Special functions: gamma and its kin, error functions, the normal distribution."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.special
from jax import lax
from jax.scipy import special

from neuron_compile.lowering.library.chebyshev import expansion
from neuron_compile.lowering.library.precision import float_dtype, widen
from neuron_compile.lowering.library.promotion import promoted_floats
from neuron_compile.lowering.library.unary import digamma


def polygamma(n: int, self: Any) -> Any:
    """`aten.polygamma`: the derivative of order n of the digamma function."""
    x = widen(self.astype(float_dtype(self.dtype)))
    if n == 0:
        return digamma(x)
    # Reflected, since the Hurwitz zeta function sums from the left of its poles, where it is slow.
    is_left = x < 0.5
    sign = 1.0 if n % 2 else -1.0
    mirrored = sign * math.factorial(n) * _hurwitz(n + 1, jnp.where(is_left, 1 - x, x))
    if n == 1:
        # As ATen writes it: the argument of the sine is rounded, and decides the digits near poles.
        sine = jnp.sin(np.asarray(math.pi, x.dtype) * x)
        reflected = np.asarray(math.pi, x.dtype) ** 2 / (sine * sine) - mirrored
    else:
        reflected = -sign * mirrored - _cotangent_derivative(n, x)
        is_pole = (x <= 0) & (x == jnp.floor(x))
        reflected = jnp.where(is_pole, sign * jnp.inf, reflected)
    return jnp.where(is_left, reflected, mirrored)


def _cotangent_derivative(n: int, x: Any) -> Any:
    """The n-th derivative of `pi * cot(pi * x)`: a polynomial of the cotangent."""
    slope = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        slope = slope.deriv() * np.polynomial.Polynomial([-1.0, 0.0, -1.0])
    # Reduced to an eighth of a turn, so that the zeros between two poles are exact.
    turn = x - jnp.round(x)
    size, pi = jnp.abs(turn), np.asarray(math.pi, x.dtype)
    near, far = 1 / jnp.tan(pi * jnp.minimum(size, 0.25)), jnp.tan(pi * (0.5 - size))
    cotangent = jnp.sign(turn) * jnp.where(size > 0.25, far, near)
    value = jnp.polyval(jnp.asarray(slope.coef[::-1], x.dtype), cotangent)
    return math.pi ** (n + 1) * value


def zeta(self: Any, other: Any) -> Any:
    """`aten.special_zeta`: the Hurwitz zeta function."""
    s, q = jnp.broadcast_arrays(*promoted_floats(self, other))
    shift, total = _terms_left_of_zero(s, q)
    is_pole = (q <= 0) & (q == jnp.floor(q)) & (s >= 1)
    value = jnp.where(is_pole, jnp.inf, lax.zeta(s, shift) + total)
    return jnp.where(s < 1, jnp.nan, value)


def _terms_left_of_zero(s: Any, q: Any) -> tuple[Any, Any]:
    """`q` raised by whole steps above zero, and the sum of the terms passed over.

    Only an integer power of a negative number is real, and a term may be a pole: both are left to
    the function itself.
    """
    can_step = (q < 0) & (s == jnp.floor(s)) & (q != jnp.floor(q)) & jnp.isfinite(q) & (s > 1)

    def is_active(state: tuple[Any, Any, Any]) -> Any:
        return state[2].any()

    def step(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        place, total, active = state
        total = jnp.where(active, total + place**-s, total)
        place = jnp.where(active, place + 1, place)
        # A number so far from zero that a step does not change it has no terms that count.
        return place, total, active & (place < 0) & (place + 1 != place)

    place, total, _ = lax.while_loop(is_active, step, (q, jnp.zeros_like(q), can_step))
    return place, total


def igamma(self: Any, other: Any) -> Any:
    """`aten.igamma`: the lower regularized incomplete gamma function."""
    return _incomplete(self, other, lower=True)


def igammac(self: Any, other: Any) -> Any:
    """`aten.igammac`: the upper regularized incomplete gamma function."""
    return _incomplete(self, other, lower=False)


def ndtri(self: Any) -> Any:
    """`aten.special_ndtri`: the quantile function of the normal distribution."""
    p = widen(self.astype(float_dtype(self.dtype)))
    value = special.ndtri(p)
    value = jnp.where(p == 0, -jnp.inf, jnp.where(p == 1, jnp.inf, value))
    return jnp.where((p < 0) | (p > 1), jnp.nan, value)


def log_ndtr(self: Any) -> Any:
    """`aten.special_log_ndtr`: the logarithm of the normal distribution function."""
    return special.log_ndtr(widen(self.astype(float_dtype(self.dtype))))


def erfcx(self: Any) -> Any:
    """`aten.special_erfcx`: `exp(x^2) * erfc(x)`, without overflow for positive x."""
    x = widen(self.astype(float_dtype(self.dtype)))
    size = jnp.abs(x)
    right = _scaled_erfc()(4 / (4 + size)) * (4 / (4 + size))
    return jnp.where(x < 0, 2 * jnp.exp(x * x) - right, right)


@cache
def _scaled_erfc() -> Any:
    # The variable of S. G. Johnson's Faddeeva package; the factor it tends to is split off.
    return expansion(lambda t: scipy.special.erfcx(4 / t - 4) / t, 0.0, 1.0, 50)


def mvlgamma(self: Any, p: int) -> Any:
    """`aten.mvlgamma`: the logarithm of the multivariate gamma function of dimension p."""
    x = widen(self.astype(float_dtype(self.dtype)))
    total = sum(lax.lgamma(x - step / 2) for step in range(p))
    return total + p * (p - 1) / 4 * math.log(math.pi)


def _hurwitz(order: int, x: Any) -> Any:
    return lax.zeta(jnp.full_like(x, order), x)


def _incomplete(self: Any, other: Any, *, lower: bool) -> Any:
    a, x = jnp.broadcast_arrays(*promoted_floats(self, other))
    function = lax.igamma if lower else lax.igammac
    safe = function(jnp.where(a > 0, a, 1), jnp.where(jnp.isfinite(x), x, 1))
    at_start, at_end = (0.0, 1.0) if lower else (1.0, 0.0)
    value = jnp.where(a == 0, jnp.where(x > 0, at_end, jnp.nan), safe)
    value = jnp.where((x == 0) & (a > 0), at_start, value)
    is_inf_a, is_inf_x = jnp.isinf(a), jnp.isinf(x)
    value = jnp.where(is_inf_a, jnp.where(is_inf_x, jnp.nan, at_start), value)
    value = jnp.where(is_inf_x & ~is_inf_a, at_end, value)
    return jnp.where((a < 0) | (x < 0) | (a != a) | (x != x), jnp.nan, value)
