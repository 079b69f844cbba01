"""Operators with randomness inside, written with the plain random operators."""

from __future__ import annotations

from typing import Any

import torch

_aten = torch.ops.aten


def rrelu_with_noise_functional(
    self: torch.Tensor,
    noise: torch.Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,  # noqa: ARG001 - of the schema
) -> tuple[torch.Tensor, torch.Tensor]:
    """Randomized leaky ReLU (https://arxiv.org/abs/1505.00853) and the slopes that it used."""
    if not training:
        return _aten.leaky_relu(self, (lower + upper) / 2), noise
    is_leaking = self <= 0
    slope = _aten.uniform(self, lower, upper)
    used = torch.where(is_leaking, slope, torch.ones_like(slope))
    return torch.where(is_leaking, self * slope, self), used
