"""Types and values in StableHLO text."""

from __future__ import annotations

import pytest

from neuron_compile.lowering.library.region_writer import (
    BOOL,
    Writer,
    function_type,
    sizes_of,
    type_of,
    zero_of,
)


@pytest.mark.parametrize(
    ("kind", "sizes", "element", "zero"),
    [
        ("tensor<f32>", (), "f32", "0.0"),
        ("tensor<2x0x3xbf16>", (2, 0, 3), "bf16", "0.0"),
        ("tensor<7xui8>", (7,), "ui8", "0"),
        ("tensor<7xi1>", (7,), "i1", "false"),
        ("tensor<4xcomplex<f32>>", (4,), "complex<f32>", "(0.0, 0.0)"),
        ("tensor<2xf8E4M3FN>", (2,), "f8E4M3FN", "0.0"),
    ],
)
def test_a_type_is_taken_apart_and_put_together(
    kind: str, sizes: tuple[int, ...], element: str, zero: str
) -> None:
    assert sizes_of(kind) == (sizes, element)
    assert type_of(sizes, element) == kind
    assert zero_of(kind) == zero


def test_each_value_has_a_name_of_its_own() -> None:
    writer = Writer()
    first = writer.constant("1", "tensor<i64>")
    second = writer.constant("1", "tensor<i64>")
    assert first[0] != second[0]
    assert first[1] == second[1] == "tensor<i64>"


def test_a_scalar_condition_is_taken_as_it_is_and_another_reshaped() -> None:
    writer = Writer()
    assert writer.scalar(("%p", BOOL)) == ("%p", BOOL)
    assert writer.lines == []
    assert writer.scalar(("%q", "tensor<1x1xi1>"))[1] == BOOL
    assert "stablehlo.reshape" in writer.lines[0]


def test_function_types_without_arguments_or_results() -> None:
    assert function_type([], []) == "() -> ()"
    assert function_type(["tensor<f32>"], [BOOL, BOOL]) == f"(tensor<f32>) -> ({BOOL}, {BOOL})"
