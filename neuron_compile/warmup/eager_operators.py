"""Operators of our namespace in eager PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.nn.functional import one_hot

from neuron_compile.warmup.eager_random import eager_random


def eager_operator(name: str) -> Callable[..., Any]:
    """What computes the operator `name`. Raises `KeyError` for others."""
    return one_hot if name == "one_hot" else eager_random(name)
