"""Gathers and scatters whose counted indices run past the operand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize

GATHER = """
func.func @main(%x: tensor<3x4xf32>) -> tensor<{y}xf32> {{
  {indices}
  %0 = "stablehlo.gather"(%x, %i) {{
    dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = array<i64: {slices}>
  }} : (tensor<3x4xf32>, tensor<{i}>) -> tensor<{y}xf32> #7
  return %0 : tensor<{y}xf32>
}}
"""
ROWS = "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1"
PAIRS = "collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1"


def table() -> list[np.ndarray[Any, Any]]:
    return [np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)]


@pytest.mark.parametrize("element", ["i32", "i64", "ui8", "i8"])
def test_gathered_rows_are_clamped(check_rewrite: Any, element: str) -> None:
    indices = f"""%n = stablehlo.iota dim = 0 : tensor<10x{element}>
      %i = stablehlo.reshape %n : (tensor<10x{element}>) -> tensor<10x1x{element}>"""
    text = GATHER.format(
        y="10x4", i=f"10x1x{element}", indices=indices, numbers=ROWS, slices="1, 4"
    )
    check_rewrite(text, table(), "EVRF056")


def test_only_the_dimension_that_counts_too_far_matters(check_rewrite: Any) -> None:
    indices = """%a = stablehlo.iota dim = 0 : tensor<4x1xi32>
      %b = stablehlo.iota dim = 0 : tensor<4x1xi32>
      %i = stablehlo.concatenate %a, %b, dim = 1
        : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>"""
    text = GATHER.format(y="4", i="4x2xi32", indices=indices, numbers=PAIRS, slices="1, 1")
    check_rewrite(text, table(), "EVRF056")


def test_index_vector_left_out(check_rewrite: Any) -> None:
    indices = "%i = stablehlo.iota dim = 0 : tensor<6xi32>"
    numbers = ROWS.replace("index_vector_dim = 1", "index_vector_dim = 1")
    text = GATHER.format(y="6x4", i="6xi32", indices=indices, numbers=numbers, slices="1, 4")
    check_rewrite(text, table(), "EVRF056")


def test_indices_within_the_operand_are_left_alone(program: Any) -> None:
    indices = "%i = stablehlo.iota dim = 0 : tensor<3xi32>"
    text = GATHER.format(y="3x4", i="3xi32", indices=indices, numbers=ROWS, slices="1, 4")
    found = legalize(program(text), device_of("trn2"))
    assert (found.rewritten, found.refusals) == ((), ())


SCATTER = """
func.func @main(%x: tensor<3x4xf32>, %u: tensor<10x{w}xf32>) -> tensor<3x4xf32> {{
  %n = stablehlo.iota dim = 0 : tensor<10xi32>
  %i = stablehlo.reshape %n : (tensor<10xi32>) -> tensor<10x1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      {body}
  }}) {{
    scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], {inserted}
      scatter_dims_to_operand_dims = [{dimension}], index_vector_dim = 1>
  }} : (tensor<3x4xf32>, tensor<10x1xi32>, tensor<10x{w}xf32>) -> tensor<3x4xf32> #7
  return %0 : tensor<3x4xf32>
}}
"""
BODIES = {
    "overwrite": "stablehlo.return %b : tensor<f32>",
    "add": "%c = stablehlo.add %a, %b : tensor<f32>\n stablehlo.return %c : tensor<f32>",
}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("dimension,width", [(0, 4), (1, 3)])
def test_scattered_rows_outside_are_dropped(
    check_rewrite: Any, body: str, dimension: int, width: int
) -> None:
    text = SCATTER.format(
        w=width, body=BODIES[body], inserted=f"inserted_window_dims = [{dimension}],",
        dimension=dimension,
    )  # fmt: skip
    updates = np.random.default_rng(3).normal(size=(10, width)).astype(np.float32)
    check_rewrite(text, [*table(), updates], "EVRF031")


def test_window_that_could_stick_out_is_refused(program: Any) -> None:
    text = SCATTER.format(w="1", body=BODIES["add"], inserted="", dimension=0)
    text = text.replace("update_window_dims = [1]", "update_window_dims = [1, 2]")
    text = text.replace("10x1xf32", "10x2x1xf32")
    (refusal,) = legalize(program(text), device_of("trn2")).refusals
    assert (refusal.code, refusal.nodes) == ("EVRF031", (7,))
