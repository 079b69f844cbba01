from __future__ import annotations

from typing import Any

import numpy as np

from neuron_compile.codegen.legality.program_module import (
    building_at,
    main_function,
    read_module,
    replace,
    walk,
    write_module,
)
from neuron_compile.codegen.legality.window import padded_inputs, split_operands

PROGRAM = """
func.func @main(%x: tensor<3xf32>) -> tensor<8xf32> {
  %i = stablehlo.constant dense<7.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1>, base_dilations = array<i64: 2>,
    padding = dense<[[1, 2]]> : tensor<1x2xi64>}
    : (tensor<3xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def test_padding_and_dilation_are_written_out_with_the_initial_value(
    program: Any, run: Any
) -> None:
    module = read_module(program(PROGRAM))
    with module.context:
        (window,) = (op for op in walk(module.operation) if op.name == "stablehlo.reduce_window")
        arrays, initial = split_operands(window)
        assert arrays[0] == main_function(module).operation.regions[0].blocks[0].arguments[0]
        assert initial[0].owner.name == "stablehlo.constant"
        with building_at(window):
            padded = padded_inputs(window)
        replace(window, padded)
        code = write_module(module)
    (result,) = run(code, [np.array([1, 2, 3], np.float32)])
    assert result.tolist() == [7, 1, 7, 2, 7, 3, 7, 7]
