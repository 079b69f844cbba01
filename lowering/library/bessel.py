"""Bessel functions of order 0 and 1, and the Airy function.

Near 0 a power series' logarithmic part is split off, far away an oscillation or an exponential;
what remains is smooth in the square of the argument or of its inverse, and is expanded. The forms
are those of the NIST Digital Library of Mathematical Functions, chapters 9 and 10.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy import special

from neuron_compile.lowering.library.chebyshev import expansion
from neuron_compile.lowering.library.precision import float_dtype, widen

Function = Callable[[Any], Any]

_EDGE = 8.0


def _of_float(function: Function) -> Function:
    def body(self: Any) -> Any:
        return function(widen(self.astype(float_dtype(self.dtype))))

    return body


@cache
def _far_parts(order: int) -> tuple[Function, Function]:
    """P and x * Q of DLMF 10.17.3, as functions of (8 / x)^2."""

    def parts(squares: Any) -> tuple[Any, Any]:
        x = _EDGE / np.sqrt(squares)
        phase = x - (order / 2 + 0.25) * np.pi
        j, y = special.jv(order, x), special.yv(order, x)
        root = np.sqrt(np.pi * x / 2)
        return (
            root * (j * np.cos(phase) + y * np.sin(phase)),
            root * (y * np.cos(phase) - j * np.sin(phase)) * x,
        )

    return (
        expansion(lambda t: parts(t)[0], 0.0, 1.0, 14),
        expansion(lambda t: parts(t)[1], 0.0, 1.0, 14),
    )


def _far(order: int, x: Any) -> tuple[Any, Any]:
    """J and Y of `x`, at least 8."""
    place = jnp.maximum(x, _EDGE)
    square = (_EDGE / place) ** 2
    even, odd = (part(square) for part in _far_parts(order))
    odd = odd / place
    phase = place - np.asarray((order / 2 + 0.25) * np.pi, place.dtype)
    root = jnp.sqrt(2 / (np.asarray(np.pi, place.dtype) * place))
    sine, cosine = jnp.sin(phase), jnp.cos(phase)
    return root * (even * cosine - odd * sine), root * (even * sine + odd * cosine)


@cache
def _near_j(order: int) -> Function:
    if order == 0:
        return expansion(lambda t: special.j0(np.sqrt(t)), 0.0, _EDGE**2, 24)
    return expansion(lambda t: special.j1(np.sqrt(t)) / np.sqrt(t), 0.0, _EDGE**2, 24)


@cache
def _near_y(order: int) -> Function:
    def rest(squares: Any) -> Any:
        x = np.sqrt(squares)
        logarithmic = 2 / np.pi * np.log(x) * special.jv(order, x)
        if order == 0:
            return special.y0(x) - logarithmic
        return (special.y1(x) - logarithmic + 2 / np.pi / x) / x

    return expansion(rest, 0.0, _EDGE**2, 24)


def _j(order: int, x: Any) -> Any:
    size = jnp.abs(x)
    near = _near_j(order)(size * size)
    value = jnp.where(size <= _EDGE, near * size if order else near, _far(order, size)[0])
    return jnp.sign(x) * value if order else value


def _y(order: int, x: Any) -> Any:
    scale = np.asarray(2 / np.pi, x.dtype)
    near = scale * jnp.log(x) * _j(order, x)
    rest = _near_y(order)(x * x)
    near = near + (x * rest - scale / x if order else rest)
    value = jnp.where(x <= _EDGE, near, _far(order, x)[1])
    return jnp.where(x == 0, -jnp.inf, jnp.where(x < 0, jnp.nan, value))


bessel_j0 = _of_float(lambda x: _j(0, x))
bessel_j1 = _of_float(lambda x: _j(1, x))
bessel_y0 = _of_float(lambda x: _y(0, x))
bessel_y1 = _of_float(lambda x: _y(1, x))
i0 = _of_float(lambda x: lax.bessel_i0e(x) * jnp.exp(jnp.abs(x)))
i1 = _of_float(lambda x: lax.bessel_i1e(x) * jnp.exp(jnp.abs(x)))
i0e = _of_float(lax.bessel_i0e)
i1e = _of_float(lax.bessel_i1e)


@cache
def _near_k(order: int) -> Function:
    def rest(squares: Any) -> Any:
        x = np.sqrt(squares)
        if order == 0:
            return special.k0(x) + np.log(x / 2) * special.i0(x)
        return x * (special.k1(x) - np.log(x / 2) * special.i1(x))

    return expansion(rest, 0.0, 4.0, 14)


@cache
def _far_k(order: int) -> Function:
    function = special.k0e if order == 0 else special.k1e
    return expansion(lambda t: function(2 / t) * np.sqrt(2 / t), 0.0, 1.0, 26)


def _k(order: int, x: Any, *, scaled: bool) -> Any:
    small = jnp.minimum(x, 2)
    logarithm, rest = jnp.log(small / 2), _near_k(order)(small * small)
    near = rest / small + logarithm * i1(small) if order else rest - logarithm * i0(small)
    large = jnp.maximum(x, 2)
    far = _far_k(order)(2 / large) / jnp.sqrt(large)
    near = near * jnp.exp(small) if scaled else near
    far = far if scaled else far * jnp.exp(-large)
    value = jnp.where(x <= 2, near, far)
    return jnp.where(x == 0, jnp.inf, jnp.where(x < 0, jnp.nan, value))


modified_bessel_k0 = _of_float(lambda x: _k(0, x, scaled=False))
modified_bessel_k1 = _of_float(lambda x: _k(1, x, scaled=False))
scaled_modified_bessel_k0 = _of_float(lambda x: _k(0, x, scaled=True))
scaled_modified_bessel_k1 = _of_float(lambda x: _k(1, x, scaled=True))
spherical_bessel_j0 = _of_float(
    lambda x: jnp.where(
        jnp.abs(x) < 0.5,
        1 - x * x / 6 * (1 - x * x / 20 * (1 - x * x / 42 * (1 - x * x / 72 * (1 - x * x / 110)))),
        jnp.where(jnp.isinf(x), 0, jnp.sin(x) / x),
    )
)

_AIRY_EDGE = 4.0


@cache
def _airy_parts() -> tuple[Function, Function, Function, Function]:
    edge = 2 / 3 * _AIRY_EDGE**1.5

    def decaying(t: Any) -> Any:
        x = (1.5 * edge / t) ** (2 / 3)
        return special.airye(x)[0] * 2 * np.sqrt(np.pi) * x**0.25

    def oscillating(squares: Any) -> tuple[Any, Any]:
        zeta = edge / np.sqrt(squares)
        x = (1.5 * zeta) ** (2 / 3)
        a, _, b, _ = special.airy(-x)
        root, phase = np.sqrt(np.pi) * x**0.25, zeta - np.pi / 4
        return (
            root * (a * np.cos(phase) - b * np.sin(phase)),
            root * (a * np.sin(phase) + b * np.cos(phase)) * zeta,
        )

    return (
        expansion(lambda x: special.airy(x)[0], -_AIRY_EDGE, _AIRY_EDGE, 40),
        expansion(decaying, 0.0, 1.0, 20),
        expansion(lambda t: oscillating(t)[0], 0.0, 1.0, 20),
        expansion(lambda t: oscillating(t)[1], 0.0, 1.0, 20),
    )


def _airy(x: Any) -> Any:
    middle, decaying, cosine_part, sine_part = _airy_parts()
    edge = 2 / 3 * _AIRY_EDGE**1.5
    size = jnp.maximum(jnp.abs(x), _AIRY_EDGE)
    zeta = np.asarray(2 / 3, x.dtype) * size * jnp.sqrt(size)
    root = np.asarray(1 / np.sqrt(np.pi), x.dtype) / jnp.sqrt(jnp.sqrt(size))
    above = decaying(edge / zeta) * jnp.exp(-zeta) * root / 2
    phase, square = zeta - np.asarray(np.pi / 4, x.dtype), (edge / zeta) ** 2
    below = cosine_part(square) * jnp.cos(phase) + sine_part(square) / zeta * jnp.sin(phase)
    inside = jnp.abs(x) <= _AIRY_EDGE
    return jnp.where(inside | (x != x), middle(x), jnp.where(x > 0, above, below * root))


airy_ai = _of_float(_airy)
