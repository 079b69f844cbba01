"""Indices followed back to the counting that the compiler follows them to."""

from __future__ import annotations

from typing import Any

import pytest

from neuron_compile.codegen.legality.iota_indices import index_bounds
from neuron_compile.codegen.legality.program_module import main_function, read_module

COUNT = "%n = stablehlo.iota dim = 0 : tensor<9xi32>\n"


@pytest.mark.parametrize(
    "lines,kind,dimension,bounds",
    [
        (COUNT + "%i = stablehlo.reshape %n : (tensor<9xi32>) -> tensor<9x1xi32>", "9x1", 1, [9]),
        (
            COUNT + "%b = stablehlo.broadcast_in_dim %n, dims = [1]"
            " : (tensor<9xi32>) -> tensor<2x9xi32>\n"
            "%i = stablehlo.transpose %b, dims = [1, 0] : (tensor<2x9xi32>) -> tensor<9x2xi32>",
            "9x2",
            1,
            [9, 9],
        ),
        (
            "%a = stablehlo.iota dim = 0 : tensor<4x1xi32>\n"
            "%i = stablehlo.concatenate %a, %free, dim = 1"
            " : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>",
            "4x2",
            1,
            [4, None],
        ),
        ("%i = stablehlo.iota dim = 1 : tensor<4x3xi32>", "4x3", 1, [1, 2, 3]),
        ("%i = stablehlo.add %free, %free : tensor<4x1xi32>", "4x1", 1, [None]),
    ],
)
def test_how_far_each_component_counts(
    program: Any, lines: str, kind: str, dimension: int, bounds: list[int | None]
) -> None:
    text = f"""func.func @main(%free: tensor<4x1xi32>) -> tensor<{kind}xi32> {{
      {lines}
      return %i : tensor<{kind}xi32>
    }}"""
    module = read_module(program(text))
    *_, end = main_function(module).operation.regions[0].blocks[0].operations
    assert index_bounds(end.operation.operands[0], dimension, len(bounds)) == bounds
