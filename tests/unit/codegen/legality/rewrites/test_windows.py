"""Base dilation, window dilation and several arrays at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize

WINDOW = """
func.func @main(%x: tensor<5x8xf32>) -> tensor<{y}xf32> {{
  %i = stablehlo.constant dense<{initial}> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %i) ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.{op} %a, %b : tensor<f32>
      stablehlo.return %m : tensor<f32>
  }}) {{
    window_dimensions = array<i64: {window}>, window_strides = array<i64: {strides}>,
    base_dilations = array<i64: {base}>, window_dilations = array<i64: {dilation}>,
    padding = dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>
  }} : (tensor<5x8xf32>, tensor<f32>) -> tensor<{y}xf32> #7
  return %0 : tensor<{y}xf32>
}}
"""
PAIR = """
func.func @main(%x: tensor<5x8xf32>) -> (tensor<{y}xf32>, tensor<{y}xi32>) {{
  %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<-1> : tensor<i32>
  %p = stablehlo.iota dim = 1 : tensor<5x8xi32>
  %0:2 = "stablehlo.reduce_window"(%x, %p, %n, %z) ({{
    ^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
      %g = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %g, %a, %b : tensor<i1>, tensor<f32>
      %k = stablehlo.select %g, %i, %j : tensor<i1>, tensor<i32>
      stablehlo.return %v, %k : tensor<f32>, tensor<i32>
  }}) {{
    window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>,
    base_dilations = array<i64: {base}>, window_dilations = array<i64: {dilation}>,
    padding = dense<[[0, 1], [2, 0]]> : tensor<2x2xi64>
  }} : (tensor<5x8xf32>, tensor<5x8xi32>, tensor<f32>, tensor<i32>)
    -> (tensor<{y}xf32>, tensor<{y}xi32>) #7
  return %0#0, %0#1 : tensor<{y}xf32>, tensor<{y}xi32>
}}
"""


def image() -> list[np.ndarray[Any, Any]]:
    return [np.random.default_rng(2).integers(-4, 4, size=(5, 8)).astype(np.float32)]


@pytest.mark.parametrize(
    "code,base,dilation,strides,window,y",
    [
        ("EVRF017", "2, 3", "1, 1", "1, 1", "2, 3", "9x22"),
        ("EVRF017", "1, 2", "1, 1", "2, 3", "2, 3", "3x5"),
        ("EVRF018", "1, 1", "2, 3", "1, 1", "2, 3", "4x4"),
        ("EVRF018", "1, 1", "2, 2", "2, 3", "2, 3", "2x2"),
        ("EVRF018", "2, 2", "3, 2", "2, 1", "2, 3", "4x13"),
        ("EVRF018", "1, 1", "2, 1", "1, 1", "4, 3", "0x8"),
    ],
)
@pytest.mark.parametrize("op,initial", [("maximum", "0xFF800000"), ("add", "0.0")])
def test_dilated_windows(
    check_rewrite: Any, code: str, base: str, dilation: str, strides: str, window: str, y: str,
    op: str, initial: str,
) -> None:  # fmt: skip
    text = WINDOW.format(
        y=y, op=op, initial=initial, base=base, dilation=dilation, strides=strides, window=window
    )
    check_rewrite(text, image(), code)


@pytest.mark.parametrize(
    "base,dilation,y",
    [("1, 1", "1, 1", "5x4"), ("1, 1", "2, 2", "4x3"), ("2, 1", "1, 2", "9x3")],
)
def test_two_arrays_at_once(check_rewrite: Any, base: str, dilation: str, y: str) -> None:
    check_rewrite(PAIR.format(base=base, dilation=dilation, y=y), image(), "EVRF019")


def test_window_too_large_to_write_out_is_refused(program: Any) -> None:
    text = PAIR.format(base="1, 1", dilation="1, 1", y="1x1")
    text = text.replace("5x8", "40x40").replace("2, 3>, window_strides", "41, 42>, window_strides")
    found = legalize(program(text), device_of("trn2"))
    assert [(r.code, r.nodes) for r in found.refusals] == [("EVRF019", (7,))]
