"""Dimensions of one element taken away, all in the one form that names them."""

from __future__ import annotations

from torch import Tensor


def squeeze(self: Tensor) -> Tensor:
    """`aten.squeeze`."""
    return self.squeeze([dim for dim, size in enumerate(self.shape) if size == 1])


def squeeze_dim(self: Tensor, dim: int) -> Tensor:
    """`aten.squeeze.dim`."""
    return self.squeeze([dim])
