"""Smooth functions of one number by Chebyshev expansions, made while tracing.

SciPy gives the function in float64 at the expansion's nodes, so no table of coefficients is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np


def expansion(
    function: Callable[[Any], Any], low: float, high: float, degree: int
) -> Callable[[Any], Any]:
    """`function`, a NumPy function smooth on `[low, high]`, as a JAX function on it.

    Arguments outside the interval are moved to its nearer end.
    """
    middle, half = (high + low) / 2, (high - low) / 2
    coefficients = np.polynomial.chebyshev.chebinterpolate(
        lambda node: function(node * half + middle), degree
    )

    def evaluate(place: Any) -> Any:
        x = (jnp.clip(place, low, high) - middle) / half
        # Clenshaw's recurrence.
        newer = older = jnp.zeros_like(x)
        for coefficient in coefficients[:0:-1]:
            newer, older = 2 * x * newer - older + np.asarray(coefficient, x.dtype), newer
        return x * newer - older + np.asarray(coefficients[0], x.dtype)

    return evaluate
