"""The one table of element types: PyTorch's name, the MLIR builtin type, NumPy's name, the width.

Plain text only, so that processes without torch can use it. Names are PyTorch's without the
`torch.` prefix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ElementType:
    """One element type: `mlir` is its type in StableHLO, `itemsize` its width in bytes."""

    name: str
    mlir: str
    numpy: str
    itemsize: int


# StableHLO writes signed integers signless (`i64`) and unsigned ones as `ui8`.
_TABLE: Final = (
    ElementType("bool", "i1", "bool", 1),
    ElementType("uint8", "ui8", "uint8", 1),
    ElementType("uint16", "ui16", "uint16", 2),
    ElementType("uint32", "ui32", "uint32", 4),
    ElementType("uint64", "ui64", "uint64", 8),
    ElementType("int8", "i8", "int8", 1),
    ElementType("int16", "i16", "int16", 2),
    ElementType("int32", "i32", "int32", 4),
    ElementType("int64", "i64", "int64", 8),
    ElementType("float16", "f16", "float16", 2),
    ElementType("bfloat16", "bf16", "bfloat16", 2),
    ElementType("float32", "f32", "float32", 4),
    ElementType("float64", "f64", "float64", 8),
    ElementType("complex64", "complex<f32>", "complex64", 8),
    ElementType("complex128", "complex<f64>", "complex128", 16),
    ElementType("float8_e4m3fn", "f8E4M3FN", "float8_e4m3fn", 1),
    ElementType("float8_e5m2", "f8E5M2", "float8_e5m2", 1),
)

ELEMENT_TYPES: Final = {entry.name: entry for entry in _TABLE}


def tensor_type(shape: tuple[int, ...], dtype: str) -> str:
    """The MLIR text of a static tensor type, for example `tensor<3x4xf32>`."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{ELEMENT_TYPES[dtype].mlir}>"
