from __future__ import annotations

from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize(
    "value", ["18446744073709551615", "[1, 5000000000, 4294967295]", "9223372036854775808"]
)
def test_constant_keeps_every_bit(check_rewrite: Any, value: str) -> None:
    text = f"""
    func.func @main(%x: tensor<3xui64>) -> tensor<3xui64> {{
      %c = stablehlo.constant dense<{value}> : tensor<3xui64> #7
      %0 = stablehlo.add %x, %c : tensor<3xui64>
      return %0 : tensor<3xui64>
    }}"""
    check_rewrite(text, [np.array([0, 1, 2**63], np.uint64)], "ESFH002")
