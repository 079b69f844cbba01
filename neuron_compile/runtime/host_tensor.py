"""XLA's memory on the host as PyTorch's tensors."""

from __future__ import annotations

import ctypes
import math
from typing import Final

import torch
from torch import Tensor

from neuron_compile.pjrt.foreign_function import BufferView

# XLA_FFI_DataType.
_DTYPES: Final = {
    1: torch.bool,
    2: torch.int8,
    3: torch.int16,
    4: torch.int32,
    5: torch.int64,
    6: torch.uint8,
    7: torch.uint16,
    8: torch.uint32,
    9: torch.uint64,
    10: torch.float16,
    11: torch.float32,
    12: torch.float64,
    15: torch.complex64,
    16: torch.bfloat16,
    18: torch.complex128,
}


def host_tensor(view: BufferView) -> Tensor:
    """The memory itself, valid as long as the view is. Raises `TypeError` for elements that
    PyTorch has no type for."""
    dtype = _DTYPES.get(view.element)
    if dtype is None:
        raise TypeError(f"a buffer's element type is {view.element}, which PyTorch does not have")
    count = math.prod(view.shape)
    if count == 0:
        return torch.empty(view.shape, dtype=dtype)
    memory = (ctypes.c_char * (count * dtype.itemsize)).from_address(view.address)
    return torch.frombuffer(memory, dtype=dtype).view(view.shape)
