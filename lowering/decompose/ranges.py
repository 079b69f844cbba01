"""Ranges of integers, which PyTorch's rule computes from bounds that are not integers yet."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decomposition_table

_linspace = torch.ops.aten.linspace


def linspace_decompositions() -> dict[Any, Callable[..., Any]]:
    """PyTorch's rules for `linspace`, but for integers: those are left whole."""
    overloads = (getattr(_linspace, name) for name in _linspace.overloads() if "out" not in name)
    return {
        overload: _of_floats(decomposition_table[overload])
        for overload in overloads
        if overload in decomposition_table
    }


def _of_floats(rule: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(rule)
    def rule_for_floats(*args: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> Any:
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            return NotImplemented
        return rule(*args, dtype=dtype, **kwargs)

    return rule_for_floats
