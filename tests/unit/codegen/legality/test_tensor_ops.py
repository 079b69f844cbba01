"""Short builders: constants of every type, comparisons by signedness, attributes as numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from neuron_compile.codegen.legality.program_module import (
    open_context,
    read_module,
    walk,
    write_module,
)
from neuron_compile.codegen.legality.tensor_ops import (
    attribute_ints,
    bitcast,
    broadcast,
    compare,
    constant_of,
    integer,
    iota,
    pad,
    reshape,
    shape_of,
    slice_along,
    splat,
)


@contextmanager
def function(build: Callable[[], list[Any]]) -> Iterator[bytes]:
    """The artifact of a function without arguments that returns what `build` builds."""
    with open_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", ([], []))
            with ir.InsertionPoint(main.add_entry_block()):
                values = build()
                func.ReturnOp(values)
            kind = ir.FunctionType.get([], [value.type for value in values])
            main.operation.attributes["function_type"] = ir.TypeAttr.get(kind)
        yield write_module(module)


@pytest.mark.parametrize(
    "number,width,is_unsigned,expected",
    [
        (-1, 64, True, 2**64 - 1),
        (2**63, 64, True, 2**63),
        (2**63, 64, False, -(2**63)),
        (255, 8, False, -1),
        (300, 8, True, 44),
        (-5, 32, False, -5),
        (1, 1, False, True),
    ],
)
def test_splat_wraps_into_its_type(
    run: Any, number: int, width: int, is_unsigned: bool, expected: int
) -> None:
    with function(lambda: [splat(number, (2,), integer(width, is_unsigned=is_unsigned))]) as code:
        assert run(code, [])[0].tolist() == [expected] * 2


def test_splat_of_floats_and_dense_constants(run: Any) -> None:
    numbers = np.array([[1, 2**64 - 1], [3, 2**63]], np.uint64)

    def build() -> list[Any]:
        exact = constant_of(numbers, integer(64, is_unsigned=True))
        return [splat(float("-inf"), (2,), ir.F32Type.get()), exact]

    with function(build) as code:
        infinite, dense = run(code, [])
    assert infinite.tolist() == [-np.inf] * 2
    np.testing.assert_array_equal(dense, numbers)


def test_comparison_follows_the_type(run: Any) -> None:
    def build() -> list[Any]:
        signed, unsigned = integer(8), integer(8, is_unsigned=True)
        return [
            compare(splat(-1, (), signed), splat(1, (), signed), "LT"),
            compare(splat(255, (), unsigned), splat(1, (), unsigned), "LT"),
            compare(splat(1, (), integer(1)), splat(0, (), integer(1)), "GT"),
            compare(splat(0.5, (), ir.F32Type.get()), splat(1, (), ir.F32Type.get()), "LT"),
        ]

    with function(build) as code:
        assert [bool(array) for array in run(code, [])] == [True, False, True, True]


def test_shapes_of_what_is_built(run: Any) -> None:
    def build() -> list[Any]:
        counted = iota((2, 3), 1, integer(32))
        zero = splat(0, (), integer(32))
        values = [
            reshape(counted, (3, 2)),
            slice_along(counted, 1, 1, 3),
            slice_along(counted, 1, 0, 3, 2),
            pad(counted, zero, [0, 1], [1, 0], [0, 1]),
            broadcast(counted, (2, 4, 3), [0, 2]),
            bitcast(counted, integer(8), (2, 3, 4)),
        ]
        assert [shape_of(value) for value in values] == [
            (3, 2), (2, 2), (2, 2), (3, 6), (2, 4, 3), (2, 3, 4),
        ]  # fmt: skip
        return values

    with function(build) as code:
        results = run(code, [])
    assert results[1].tolist() == [[1, 2], [1, 2]]
    assert results[2].tolist() == [[0, 2], [0, 2]]
    assert results[3].tolist() == [[0, 0, 0, 1, 0, 2], [0, 0, 0, 1, 0, 2], [0] * 6]
    assert results[5][0, 2].tolist() == [2, 0, 0, 0]


def test_integer_attributes_in_both_forms(program: Any) -> None:
    module = read_module(
        program("""func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
          %i = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = "stablehlo.reduce_window"(%x, %i) ({
            ^bb0(%a: tensor<f32>, %b: tensor<f32>):
              stablehlo.return %a : tensor<f32>
          }) {window_dimensions = array<i64: 1>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}
            : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
          return %0 : tensor<6xf32>
        }""")
    )
    (window,) = (op for op in walk(module.operation) if op.name == "stablehlo.reduce_window")
    assert attribute_ints(window, "window_dimensions", ()) == [1]
    assert attribute_ints(window, "padding", ()) == [1, 1]
    assert attribute_ints(window, "window_strides", [7]) == [7]
