"""Ranges whose numbers are known when the body is traced."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np


def logspace(
    start: float, end: float, steps: int, base: float = 10.0, *, dtype: Any | None = None
) -> Any:
    """`aten.logspace`: `base` to evenly spaced powers, computed in float64 and rounded once."""
    return jnp.asarray(np.power(base, np.linspace(start, end, steps)).astype(dtype or "float32"))
