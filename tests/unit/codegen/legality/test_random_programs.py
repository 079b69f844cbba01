"""Rewrites on programs drawn at random: both forms on the host, many shapes and attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize

pytestmark = pytest.mark.slow


def both(program: Any, run: Any, text: str, inputs: list[np.ndarray[Any, Any]]) -> Any:
    artifact = program(text)
    after = legalize(artifact, device_of("trn2"))
    assert after.refusals == ()
    return zip(run(artifact, inputs), run(after.stablehlo, inputs), strict=True)


def dilated(size: int, factor: int) -> int:
    return (size - 1) * factor + 1 if size else 0


def drawn_geometry(rng: np.random.Generator) -> dict[str, Any] | None:
    """Window geometry in two dimensions with a result that is not empty, or None."""
    g = {
        "size": rng.integers(1, 8, 2), "window": rng.integers(1, 4, 2),
        "stride": rng.integers(1, 4, 2), "base": rng.integers(1, 4, 2),
        "dilation": rng.integers(1, 4, 2), "low": rng.integers(-1, 4, 2),
        "high": rng.integers(-1, 4, 2),
    }  # fmt: skip
    found = {name: [int(n) for n in value] for name, value in g.items()}
    found["out"] = [
        (dilated(n, b) + low + high - dilated(w, d)) // s + 1
        for n, w, s, b, d, low, high in zip(*found.values(), strict=True)
    ]
    padded = [
        dilated(n, b) + low + high
        for n, b, low, high in zip(
            found["size"], found["base"], found["low"], found["high"], strict=True
        )
    ]
    return found if min(found["out"]) >= 1 and min(padded) >= 0 else None


@pytest.mark.parametrize("seed", range(40))
def test_convolution(program: Any, run: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    while (g := drawn_geometry(rng)) is None:
        pass
    groups = int(rng.integers(1, 3))
    x, w = (2, 2 * groups, *g["size"]), (3 * groups, 2, *g["window"])
    y = (2, 3 * groups, *g["out"])
    kinds = ["x".join(map(str, shape)) + "xf32" for shape in (x, w, y)]
    pad = [[low, high] for low, high in zip(g["low"], g["high"], strict=True)]
    text = f"""
    func.func @main(%x: tensor<{kinds[0]}>, %w: tensor<{kinds[1]}>) -> tensor<{kinds[2]}> {{
      %0 = stablehlo.convolution(%x, %w)
        dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {{stride = {g["stride"]}, pad = {pad}, lhs_dilate = {g["base"]},
          rhs_dilate = {g["dilation"]}}}
        {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}
        : (tensor<{kinds[0]}>, tensor<{kinds[1]}>) -> tensor<{kinds[2]}>
      return %0 : tensor<{kinds[2]}>
    }}"""
    inputs = [rng.normal(size=shape).astype(np.float32) for shape in (x, w)]
    for expected, found in both(program, run, text, inputs):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_reduce_window(program: Any, run: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    while (g := drawn_geometry(rng)) is None:
        pass
    operation, initial = [("maximum", "0xFF800000"), ("add", "0.0"), ("minimum", "0x7F800000")][
        seed % 3
    ]
    x, y = ("x".join(map(str, shape)) + "xf32" for shape in (g["size"], g["out"]))
    array = "array<i64: {}, {}>"
    pad = [[low, high] for low, high in zip(g["low"], g["high"], strict=True)]
    text = f"""
    func.func @main(%x: tensor<{x}>) -> tensor<{y}> {{
      %i = stablehlo.constant dense<{initial}> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%x, %i) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %m = stablehlo.{operation} %a, %b : tensor<f32>
          stablehlo.return %m : tensor<f32>
      }}) {{window_dimensions = {array.format(*g["window"])},
        window_strides = {array.format(*g["stride"])},
        base_dilations = {array.format(*g["base"])},
        window_dilations = {array.format(*g["dilation"])},
        padding = dense<{pad}> : tensor<2x2xi64>}}
        : (tensor<{x}>, tensor<f32>) -> tensor<{y}>
      return %0 : tensor<{y}>
    }}"""
    inputs = [rng.integers(-4, 4, size=g["size"]).astype(np.float32)]
    for expected, found in both(program, run, text, inputs):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("seed", range(30))
def test_integer_scatter(program: Any, run: Any, seed: int) -> None:
    """Rows and single elements, one or two indices, any integer type."""
    rng = np.random.default_rng(seed)
    kind: Any
    element, kind = [("i8", np.int8), ("i32", np.int32), ("i64", np.int64), ("ui16", np.uint16)][
        seed % 4
    ]
    count, is_row = int(rng.integers(1, 200)), bool(seed % 2)
    width, window = (1, "4x") if is_row else (2, "")
    inserted, scattered = ("0", "0") if is_row else ("0, 1", "0, 1")
    update_window = "update_window_dims = [1]," if is_row else ""
    x, i, u = f"3x4x{element}", f"{count}x{width}xi32", f"{count}x{window}{element}"
    text = f"""
    func.func @main(%x: tensor<{x}>, %i: tensor<{i}>, %u: tensor<{u}>) -> tensor<{x}> {{
      %0 = "stablehlo.scatter"(%x, %i, %u) ({{
        ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
          %c = stablehlo.add %a, %b : tensor<{element}>
          stablehlo.return %c : tensor<{element}>
      }}) {{scatter_dimension_numbers = #stablehlo.scatter<{update_window}
        inserted_window_dims = [{inserted}], scatter_dims_to_operand_dims = [{scattered}],
        index_vector_dim = 1>}}
        : (tensor<{x}>, tensor<{i}>, tensor<{u}>) -> tensor<{x}>
      return %0 : tensor<{x}>
    }}"""
    info = np.iinfo(kind)
    shape = (count, 4) if is_row else (count,)
    inputs = [
        rng.integers(info.min, info.max, size=(3, 4), dtype=kind),
        rng.integers(-1, 5, size=(count, width)).astype(np.int32),
        rng.integers(info.min, info.max, size=shape, dtype=kind),
    ]
    for expected, found in both(program, run, text, inputs):
        np.testing.assert_array_equal(found, expected)
