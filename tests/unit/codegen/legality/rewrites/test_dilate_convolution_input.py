from __future__ import annotations

from typing import Any

import numpy as np
import pytest

CONVOLUTION = """
func.func @main(%x: tensor<{x}xf32>, %w: tensor<{w}xf32>) -> tensor<{y}xf32> {{
  %0 = stablehlo.convolution(%x, %w) dim_numbers = {dims}, window = {{
    stride = {stride}, pad = {pad}, lhs_dilate = {lhs}, rhs_dilate = {rhs}, reverse = {reverse}
  }} {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}
    : (tensor<{x}xf32>, tensor<{w}xf32>) -> tensor<{y}xf32> #7
  return %0 : tensor<{y}xf32>
}}
"""
NCHW = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]"
NHWC = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"


@pytest.mark.parametrize(
    "code,settings",
    [
        ("EVRF010", {"rhs": "[2, 2]", "y": "2x4x12x18"}),
        ("EVRF011", {"stride": "[2, 3]", "y": "2x4x7x7"}),
        ("EVRF010", {"stride": "[2, 1]", "rhs": "[2, 1]", "y": "2x4x6x19"}),
        ("EVRF011", {"stride": "[1, 2]", "reverse": "[true, false]", "y": "2x4x14x10"}),
        (
            "EVRF011",
            {"stride": "[1, 2]", "dims": NHWC, "x": "2x7x6x3", "w": "3x2x3x4", "y": "2x14x10x4"},
        ),
        ("EVRF010", {"rhs": "[2, 2]", "groups": "3", "w": "6x1x3x2", "y": "2x6x12x18"}),
        ("EVRF010", {"rhs": "[2, 2]", "pad": "[[-1, 0], [0, -2]]", "y": "2x4x8x12"}),
    ],
    ids=str,
)
def test_equal_to_the_dilated_form(check_rewrite: Any, code: str, settings: dict[str, str]) -> None:
    values = {
        "x": "2x3x7x6", "w": "4x3x3x2", "dims": NCHW, "stride": "[1, 1]", "lhs": "[2, 3]",
        "rhs": "[1, 1]", "pad": "[[1, 2], [3, 1]]", "reverse": "[false, false]", "groups": "1",
    } | settings  # fmt: skip
    rng = np.random.default_rng(0)
    inputs = [
        rng.normal(size=tuple(map(int, values[name].split("x")))).astype(np.float32)
        for name in ("x", "w")
    ]
    check_rewrite(CONVOLUTION.format(**values), inputs, code, rtol=1e-5)
