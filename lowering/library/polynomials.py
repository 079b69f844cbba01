"""Orthogonal polynomials, whose degree may be a tensor: the recurrence runs to the largest one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.promotion import promoted_floats

Step = Callable[[Any, Any, Any, Any], Any]


def _recurrence(start: Callable[[Any], Any], step: Step, shift: bool = False) -> Any:
    """The polynomials p(0) = 1, p(1) = `start(x)`, p(k + 1) = `step(x, k, p(k), p(k - 1))`.

    A negative degree gives 0, and `shift` moves the interval [-1, 1] to [0, 1].
    """

    def body(x: Any, n: Any) -> Any:
        place, degrees = jnp.broadcast_arrays(*promoted_floats(x, n))
        place = 2 * place - 1 if shift else place
        wanted = degrees.astype(jnp.int64)

        def advance(state: tuple[Any, Any, Any, Any]) -> tuple[Any, Any, Any, Any]:
            k, newer, older, result = state
            result = jnp.where(wanted == k, newer, result)
            following = step(place, k.astype(place.dtype), newer, older)
            return k + 1, following, newer, result

        one = jnp.ones_like(place)
        first = start(place)
        result = jnp.where(wanted == 0, one, jnp.zeros_like(place))
        state = (jnp.asarray(1, jnp.int64), first, one, result)
        largest = jnp.max(wanted, initial=0)
        return lax.while_loop(lambda state: state[0] <= largest, advance, state)[3]

    return body


def _chebyshev(x: Any, k: Any, newer: Any, older: Any) -> Any:
    return 2 * x * newer - older


chebyshev_t = _recurrence(lambda x: x, _chebyshev)
chebyshev_u = _recurrence(lambda x: 2 * x, _chebyshev)
chebyshev_v = _recurrence(lambda x: 2 * x - 1, _chebyshev)
chebyshev_w = _recurrence(lambda x: 2 * x + 1, _chebyshev)
shifted_chebyshev_t = _recurrence(lambda x: x, _chebyshev, shift=True)
shifted_chebyshev_u = _recurrence(lambda x: 2 * x, _chebyshev, shift=True)
shifted_chebyshev_v = _recurrence(lambda x: 2 * x - 1, _chebyshev, shift=True)
shifted_chebyshev_w = _recurrence(lambda x: 2 * x + 1, _chebyshev, shift=True)
hermite_h = _recurrence(lambda x: 2 * x, lambda x, k, p, q: 2 * x * p - 2 * k * q)
hermite_he = _recurrence(lambda x: x, lambda x, k, p, q: x * p - k * q)
laguerre_l = _recurrence(
    lambda x: 1 - x, lambda x, k, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)
)
legendre_p = _recurrence(lambda x: x, lambda x, k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1))
