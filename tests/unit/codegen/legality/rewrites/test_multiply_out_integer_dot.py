from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize

DOT = """
func.func @main(%a: tensor<{a}x{t}>, %b: tensor<{b}x{t}>) -> tensor<{y}x{t}> {{
  %0 = stablehlo.dot_general %a, %b, {dims}
    : (tensor<{a}x{t}>, tensor<{b}x{t}>) -> tensor<{y}x{t}> #7
  return %0 : tensor<{y}x{t}>
}}
"""


def whole(shape: str, kind: Any) -> np.ndarray[Any, Any]:
    info = np.iinfo(kind)
    sizes = tuple(map(int, shape.split("x")))
    return np.random.default_rng(4).integers(info.min, info.max, size=sizes, dtype=kind)


@pytest.mark.parametrize(
    "element,kind", [("i32", np.int32), ("i64", np.int64), ("ui32", np.uint32)]
)
@pytest.mark.parametrize(
    "a,b,y,dims",
    [
        ("3x4", "4x5", "3x5", "contracting_dims = [1] x [0]"),
        ("2x3x4", "5x4x2", "2x3x5", "batching_dims = [0] x [2], contracting_dims = [2] x [1]"),
        ("3x4x2", "2x5x4", "3x5", "contracting_dims = [1, 2] x [2, 0]"),
        ("3", "4", "3x4", "contracting_dims = [] x []"),
    ],
)
def test_products_wrap_as_integers(
    check_rewrite: Any, element: str, kind: Any, a: str, b: str, y: str, dims: str
) -> None:
    text = DOT.format(a=a, b=b, y=y, dims=dims, t=element)
    check_rewrite(text, [whole(a, kind), whole(b, kind)], "EVRF035")


def test_allowed_downcast_and_trn1_leave_it_alone(program: Any) -> None:
    artifact = program(
        DOT.format(a="3x4", b="4x5", y="3x5", dims="contracting_dims = [1] x [0]", t="i32")
    )
    for device in (device_of("trn1"), device_of("trn2", downcasts=frozenset({"dot"}))):
        found = legalize(artifact, device)
        assert (found.rewritten, found.refusals) == ((), ())


def test_too_many_products_are_refused(program: Any) -> None:
    text = DOT.format(
        a="4096x4096", b="4096x4096", y="4096x4096", dims="contracting_dims = [1] x [0]", t="i32"
    )
    (refusal,) = legalize(program(text), device_of("trn2")).refusals
    assert (refusal.code, refusal.nodes) == ("EVRF035", (7,))
    assert "implicit-integer-downcast=dot" in refusal.way_out
