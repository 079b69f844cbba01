"""The network alone, on every order of a few elements (the 0-1 principle covers all others)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import (
    building_at,
    read_module,
    replace,
    walk,
    write_module,
)
from neuron_compile.codegen.legality.sorting_network import sort_by_network
from neuron_compile.codegen.legality.tensor_ops import compare


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_all_sequences_of_zeros_and_ones(program: Any, run: Any, size: int) -> None:
    rows = 2**size
    text = f"""func.func @main(%x: tensor<{rows}x{size}xi32>) -> tensor<{rows}x{size}xi32> {{
      %0 = stablehlo.negate %x : tensor<{rows}x{size}xi32>
      return %0 : tensor<{rows}x{size}xi32>
    }}"""
    module = read_module(program(text))
    with module.context:
        (mark,) = (op for op in walk(module.operation) if op.name == "stablehlo.negate")
        with building_at(mark):
            (values,), places = sort_by_network(
                list(mark.operands), 1, lambda a, b: compare(a[0], b[0], "LT")
            )
            # One result for both: sixteen times the value, and the place.
            packed = values
            for _ in range(4):
                packed = stablehlo.add(packed, packed)
            packed = stablehlo.add(packed, places)
        replace(mark, [packed])
        code = write_module(module)
    bits = np.array(list(itertools.product((0, 1), repeat=size)), np.int32)
    order = np.argsort(bits, axis=1, kind="stable")
    expected = np.take_along_axis(bits, order, 1) * 16 + order
    np.testing.assert_array_equal(run(code, [bits])[0], expected)
