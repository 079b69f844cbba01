"""The rows of PyTorch's operator database, by name, and the dtypes each is tried in."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import torch
from torch.testing._internal.common_methods_invocations import op_db

DTYPES: Final = (
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
    torch.complex64,
)


@cache
def entries() -> dict[str, Any]:
    """Name -> `OpInfo`; a variant's name follows a dot: `nn.functional.pad.reflect`."""
    return {_name(op): op for op in op_db}


def dtype_named(name: str) -> torch.dtype:
    """`torch.float32` for `"float32"`."""
    dtype: torch.dtype = getattr(torch, name)
    return dtype


def dtype_name(dtype: torch.dtype) -> str:
    """`"float32"` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def cases(dtypes: tuple[torch.dtype, ...] = DTYPES) -> list[tuple[str, str]]:
    """Every (entry, dtype name) that eager supports on the CPU, dtype by dtype."""
    return [
        (name, dtype_name(dtype))
        for dtype in dtypes
        for name, op in entries().items()
        if dtype in op.supported_dtypes("cpu")
    ]


def has_gradient(op: Any, dtype: torch.dtype) -> bool:
    """Whether eager differentiates the entry in this dtype."""
    return bool(op.supports_autograd and dtype in op.supported_backward_dtypes("cpu"))


def _name(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)
