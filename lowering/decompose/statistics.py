"""Composite operators that look at values in Python, rewritten so that they do not.

PyTorch takes these apart before any table is asked, so they are registered as what its Python
dispatcher calls while a graph is traced; eager execution is not touched.
"""

from __future__ import annotations

import itertools
from typing import Final

import torch
from torch import Tensor

_aten = torch.ops.aten
_COMPOSITE: Final = torch._C.DispatchKey.CompositeImplicitAutograd


def cov(
    self: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """`aten.cov` without its checks of the weights' signs."""
    observations = self.reshape(1, -1) if self.dim() < 2 else self
    weights = fweights
    if aweights is not None:
        weights = aweights if weights is None else weights * aweights
    if weights is None:
        total = torch.full((), observations.shape[1], dtype=torch.int64, device=self.device)
    else:
        total = weights.sum()
    mean = _weighted(observations, weights).sum(1, keepdim=True) / total
    divisor = total - correction
    if weights is not None and aweights is not None and correction != 0:
        divisor = total - correction * (weights * aweights).sum() / total
    centred = observations - mean
    product = centred @ _weighted(centred, weights).mH
    return (product / divisor.clamp(min=0)).squeeze()


def _weighted(observations: Tensor, weights: Tensor | None) -> Tensor:
    return observations if weights is None else observations * weights


def combinations(self: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """`aten.combinations`: which elements are combined depends on the length alone."""
    if r == 0:
        return self.new_empty((0,))
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(self.shape[0]), r))
    place = torch.tensor(rows, dtype=torch.int64, device=self.device).reshape(len(rows), r)
    return self[place]


def register() -> None:
    """Make tracing use these; once for a process."""
    for operator, rule in ((_aten.cov.default, cov), (_aten.combinations.default, combinations)):
        if _COMPOSITE not in operator.py_kernels:
            operator.py_impl(_COMPOSITE)(rule)
