"""Which operators are rewritten into others while AOTAutograd traces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import torch
from torch._decomp import core_aten_decompositions

_aten = torch.ops.aten

# Decomposed by PyTorch, but left whole here because a later stage does better with the whole.
_KEPT: Final = frozenset(
    {
        # Random operators become functions of a seed in the joint graph.
        _aten.bernoulli.default,
        _aten.bernoulli.p,
        _aten.exponential.default,
        _aten.geometric.default,
        _aten.cauchy.default,
        _aten.log_normal.default,
        _aten.uniform.default,
        _aten.normal_functional.default,
    }
)


@functools.cache
def decomposition_table() -> dict[Any, Callable[..., Any]]:
    """PyTorch's core ATen decompositions, less those kept, plus ours."""
    table = dict(core_aten_decompositions().items())
    return {op: rule for op, rule in table.items() if op not in _KEPT}
