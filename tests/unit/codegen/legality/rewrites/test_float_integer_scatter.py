from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize
from tiers import slow_unless

SCATTER = """
func.func @main(%x: tensor<5x{t}>, %i: tensor<{n}x1xi32>, %u: tensor<{n}x{t}>) -> tensor<5x{t}> {{
  %0 = "stablehlo.scatter"(%x, %i, %u) ({{
    ^bb0(%a: tensor<{t}>, %b: tensor<{t}>):
      %c = stablehlo.{op} %a, %b : tensor<{t}>
      stablehlo.return %c : tensor<{t}>
  }}) {{
    scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
  }} : (tensor<5x{t}>, tensor<{n}x1xi32>, tensor<{n}x{t}>) -> tensor<5x{t}> #7
  return %0 : tensor<5x{t}>
}}
"""
KINDS = {
    "i1": np.bool_, "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "i32": np.int32,
    "ui32": np.uint32, "i64": np.int64, "ui64": np.uint64,
}  # fmt: skip


def numbers(kind: Any, size: int, seed: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    if kind is np.bool_:
        return rng.integers(0, 2, size=size).astype(bool)
    info = np.iinfo(kind)
    return rng.integers(info.min, info.max, size=size, dtype=kind, endpoint=True)


CASES = [
    *[("add", element) for element in KINDS],
    *[(op, element) for op in ("maximum", "minimum") for element in ("i1", "i8", "ui8", "i16")],
    ("or", "i1"),
    ("and", "i1"),
]
QUICK = [("add", "i32", 70_000), ("add", "i64", 40), ("add", "ui8", 40), ("maximum", "i16", 40)]


@pytest.mark.parametrize(
    "op,element,count",
    slow_unless(
        [*QUICK, ("or", "i1", 40), ("add", "i1", 1)],
        [(*case, count) for case in CASES for count in (1, 40, 70_000)],
    ),
)
def test_exact_even_when_all_updates_meet(
    check_rewrite: Any, op: str, element: str, count: int
) -> None:
    kind = KINDS[element]
    where = np.random.default_rng(9).integers(-1, 6, size=(count, 1)).astype(np.int32)
    if count > 1:
        where[: count // 2] = 2
    inputs = [numbers(kind, 5, 1), where, numbers(kind, count, 2)]
    code = "EVRF060" if element in {"i32", "ui32", "i64", "ui64"} else "EVRF016"
    check_rewrite(SCATTER.format(op=op, t=element, n=count), inputs, code)


@pytest.mark.parametrize(
    "op,element,code",
    [
        ("maximum", "i32", "EVRF060"),
        ("minimum", "i64", "EVRF060"),
        ("multiply", "i32", "EVRF060"),
        ("multiply", "i8", "EVRF016"),
        ("xor", "i1", "EVRF016"),
    ],
)
def test_what_floats_cannot_do_exactly_is_refused(
    program: Any, op: str, element: str, code: str
) -> None:
    found = legalize(program(SCATTER.format(op=op, t=element, n=4)), device_of("trn2"))
    assert [(r.code, r.nodes) for r in found.refusals] == [(code, (7,))]
    assert found.rewritten == ()


def test_allowed_downcast_and_overwriting_are_left_alone(program: Any) -> None:
    text = SCATTER.format(op="add", t="i32", n=4)
    device = device_of("trn2", downcasts=frozenset({"scatter"}))
    assert legalize(program(text), device).rewritten == ()
    overwrite = text.replace("return %c", "return %b")
    found = legalize(program(overwrite), device_of("trn2"))
    assert (found.rewritten, found.refusals) == ((), ())


@pytest.mark.parametrize("element,codes", [("f32", set()), ("complex<f32>", {"EVRF004"})])
def test_other_numbers_than_integers_are_left_alone(
    program: Any, element: str, codes: set[str]
) -> None:
    found = legalize(program(SCATTER.format(op="add", t=element, n=4)), device_of("trn2"))
    assert found.rewritten == ()
    assert {refusal.code for refusal in found.refusals} == codes
