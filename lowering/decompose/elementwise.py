"""Elementwise operators for which neither PyTorch's rules nor Torch-MLIR give the right bits."""

from __future__ import annotations

import torch
from torch import Tensor

_INTEGER_OF_WIDTH = {2: torch.int16, 4: torch.int32, 8: torch.int64}


def signbit(self: Tensor) -> Tensor:
    """`aten.signbit`: the sign of zero and of NaN counts, so it is read from the bits."""
    if self.dtype.is_floating_point:
        return self.view(_INTEGER_OF_WIDTH[self.dtype.itemsize]) < 0
    if self.dtype.is_signed:
        return self < 0
    return torch.zeros_like(self, dtype=torch.bool)
