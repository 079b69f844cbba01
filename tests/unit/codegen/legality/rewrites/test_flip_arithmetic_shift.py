from __future__ import annotations

from typing import Any

import numpy as np
import pytest

TYPES: dict[str, Any] = {
    "i8": np.int8,
    "i16": np.int16,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui64": np.uint64,
}


@pytest.mark.parametrize("element", TYPES)
def test_every_amount_of_every_sign(check_rewrite: Any, element: str) -> None:
    kind = TYPES[element]
    info = np.iinfo(kind)
    numbers = np.array([info.min, info.min + 1, info.max, 0, 1, 5, info.max // 3], kind)
    width = info.bits
    amounts = np.array([0, 1, 3, width - 1, width, width + 1, info.max, info.min], kind)
    x, s = (grid.reshape(-1) for grid in np.meshgrid(numbers, amounts))
    text = f"""
    func.func @main(%x: tensor<{x.size}x{element}>, %s: tensor<{x.size}x{element}>)
        -> tensor<{x.size}x{element}> {{
      %0 = stablehlo.shift_right_arithmetic %x, %s : tensor<{x.size}x{element}> #7
      return %0 : tensor<{x.size}x{element}>
    }}"""
    check_rewrite(text, [x, s], "EVRF022")
