"""Sorts and top-k of integers as networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize
from tiers import slow_unless

SORT = """
func.func @main(%x: tensor<{s}xf32>) -> (tensor<{s}xf32>, tensor<{s}xi32>) {{
  %p = stablehlo.iota dim = {d} : tensor<{s}xi32>
  %outside = stablehlo.constant dense<1.0> : tensor<f32>
  %0:2 = "stablehlo.sort"(%x, %p) ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.add %a, %z : tensor<f32>
      %c = stablehlo.multiply %s, %outside : tensor<f32>
      %g = stablehlo.compare {direction}, %c, %b, TOTALORDER
        : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %g : tensor<i1>
  }}) {{dimension = {d} : i64, is_stable = true}}
    : (tensor<{s}xf32>, tensor<{s}xi32>) -> (tensor<{s}xf32>, tensor<{s}xi32>) #7
  return %0#0, %0#1 : tensor<{s}xf32>, tensor<{s}xi32>
}}
"""


SHAPES = [("1", 0), ("2", 0), ("3", 0), ("8", 0), ("37", 0), ("3x5", 0), ("3x5", 1), ("2x6x3", 1)]


@pytest.mark.parametrize(
    "shape,dimension,direction",
    slow_unless(
        [("1", 0, "LT"), ("2", 0, "LT"), ("3x5", 1, "GT"), ("2x6x3", 1, "LT")],
        [(*shape, direction) for shape in SHAPES for direction in ("LT", "GT")],
    ),
)
def test_stable_order_with_ties_and_nan(
    check_rewrite: Any, shape: str, dimension: int, direction: str
) -> None:
    sizes = tuple(map(int, shape.split("x")))
    values = np.random.default_rng(6).integers(-3, 3, size=sizes).astype(np.float32)
    if values.size > 3:
        values.flat[::7] = np.nan
    text = SORT.format(s=shape, d=dimension, direction=direction)
    check_rewrite(text, [values], "EVRF029")


def test_sort_of_too_many_is_refused(program: Any) -> None:
    text = SORT.format(s="2x70000", d=1, direction="LT")
    (refusal,) = legalize(program(text), device_of("trn2")).refusals
    assert (refusal.code, refusal.nodes) == ("EVRF029", (7,))
    assert "2x70000" in refusal.why


TOP_K = """
func.func @main(%x: tensor<3x{n}x{t}>) -> (tensor<3x{k}x{t}>, tensor<3x{k}xi32>) {{
  %v, %i = chlo.top_k(%x, k = {k}) : tensor<3x{n}x{t}> -> (tensor<3x{k}x{t}>, tensor<3x{k}xi32>) #7
  return %v, %i : tensor<3x{k}x{t}>, tensor<3x{k}xi32>
}}
"""


KINDS = {"i8": np.int8, "ui8": np.uint8, "i32": np.int32, "i64": np.int64, "ui64": np.uint64}


@pytest.mark.parametrize(
    "element,count",
    slow_unless(
        [("i8", 4), ("i64", 4), ("ui64", 11)],
        [(element, count) for element in KINDS for count in (1, 4, 11)],
    ),
)
def test_largest_integers_first_of_equals_first(
    check_rewrite: Any, element: str, count: int
) -> None:
    kind: Any = KINDS[element]
    info = np.iinfo(kind)
    values = np.random.default_rng(8).integers(0, 4, size=(3, 11)).astype(kind)
    values[0, 3], values[1, 5], values[2, 7] = info.max, info.min, info.max - 1
    text = TOP_K.format(n=11, k=count, t=element)
    check_rewrite(text, [values], "EVRF013")


def test_float_top_k_goes_through_and_too_many_integers_do_not(program: Any) -> None:
    found = legalize(program(TOP_K.format(n=11, k=2, t="f32")), device_of("trn2"))
    assert (found.rewritten, found.refusals) == ((), ())
    (refusal,) = legalize(program(TOP_K.format(n=70_000, k=2, t="i32")), device_of("trn2")).refusals
    assert (refusal.code, refusal.nodes) == ("EVRF013", (7,))
