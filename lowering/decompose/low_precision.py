"""Rules of PyTorch's that round between their steps, where the kernel rounds once at the end."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch.utils._pytree import tree_map

_aten = torch.ops.aten

_LOW: Final = (torch.bfloat16, torch.float16)
_ROUNDED_ONCE: Final = (
    _aten._softmax_backward_data.default,
    _aten._log_softmax_backward_data.default,
)


def rounded_once() -> dict[Any, Callable[..., Any]]:
    """PyTorch's rules for these operators, computed in float32 for operands of 16 bits."""
    return {operator: _in_float32(decomposition_table[operator]) for operator in _ROUNDED_ONCE}


def _in_float32(rule: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(rule)
    def widened(first: Tensor, *args: Any, **kwargs: Any) -> Any:
        if first.dtype not in _LOW:
            return rule(first, *args, **kwargs)
        args, kwargs = tree_map(_wide, (args, kwargs))
        result = rule(_wide(first), *args, **kwargs)
        return tree_map(lambda part: part.to(first.dtype), result)

    return widened


def _wide(value: Any) -> Any:
    if isinstance(value, Tensor) and value.dtype in _LOW:
        return value.float()
    is_low = isinstance(value, torch.dtype) and value in _LOW
    return torch.float32 if is_low else value
