"""Bodies of control flow, run with functions that are written by hand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from neuron_compile.lowering.errors import LoweringError
from neuron_compile.lowering.library.control_flow import (
    control_flow_body,
    encode_control_flow,
    is_control_flow,
    operator_of,
)
from neuron_compile.lowering.library.region_writer import Function
from neuron_compile.lowering.program import LibraryCall
from unit.lowering.library.against_eager import execute, spec

F, N, B = "tensor<f32>", "tensor<i64>", "tensor<i1>"

DOUBLE = Function("double", (F,), (F,))
HALVE = Function("halve", (F,), (F,))
BELOW = Function("below", (N, F, N), (B,))
GROW = Function("grow", (N, F, N), (N, F))
CHECKED = {
    "double": Function("double", (F,), (F, "tensor<1xi1>"), 1),
    "below": Function("below", (N, F, N), (B, "tensor<2xi1>"), 2),
    "grow": Function("grow", (N, F, N), (N, F, "tensor<1xi1>"), 1),
    "step": Function("step", (F, F), (F, F, "tensor<1xi1>"), 1),
}


def call(
    kind: str,
    counts: tuple[int, ...],
    functions: list[Function],
    operands: list[Tensor],
    results: list[Tensor],
) -> LibraryCall:
    return LibraryCall(
        "lib",
        operator_of(kind),
        encode_control_flow(counts, functions),
        tuple(map(spec, operands)),
        tuple(map(spec, results)),
    )


def run(library_call: LibraryCall, operands: list[Tensor], *definitions: str) -> list[Tensor]:
    """The results of a body whose declarations are replaced by definitions."""
    lines = control_flow_body(library_call).splitlines()
    kept = [line for line in lines if not line.startswith("  func.func private")]
    return execute("\n".join([kept[0], *definitions, *kept[1:]]), operands)


def function(name: str, inputs: str, results: str, body: str) -> str:
    return f"  func.func private @{name}({inputs}) -> ({results}) {{\n{body}\n  }}"


ABOVE_TEN = (
    f"%ten = stablehlo.constant dense<10.0> : {F}\n"
    f"%above = stablehlo.compare GT, %x, %ten : ({F}, {F}) -> {B}\n"
    f"%failed = stablehlo.reshape %above : ({B}) -> tensor<1xi1>\n"
)
TWICE = f"%y = stablehlo.add %x, %x : {F}\n"
ONE_MORE = f"%one = stablehlo.constant dense<1> : {N}\n%next = stablehlo.add %i, %one : {N}\n"
IS_LEFT = f"%more = stablehlo.compare LT, %i, %end : ({N}, {N}) -> {B}\n"

PLAIN = {
    "double": function("double", f"%x: {F}", F, f"{TWICE} return %y : {F}"),
    "halve": function("halve", f"%x: {F}", F, f"%y = stablehlo.negate %x : {F} return %y : {F}"),
    "below": function("below", f"%i: {N}, %x: {F}, %end: {N}", B, f"{IS_LEFT} return %more : {B}"),
    "grow": function(
        "grow",
        f"%i: {N}, %x: {F}, %end: {N}",
        f"{N}, {F}",
        f"{ONE_MORE}{TWICE} return %next, %y : {N}, {F}",
    ),
}
WITH_CHECKS = {
    "double": function(
        "double",
        f"%x: {F}",
        f"{F}, tensor<1xi1>",
        f"{ABOVE_TEN}{TWICE} return %y, %failed : {F}, tensor<1xi1>",
    ),
    "below": function(
        "below",
        f"%i: {N}, %x: {F}, %end: {N}",
        f"{B}, tensor<2xi1>",
        f"{ABOVE_TEN}{IS_LEFT}%no = stablehlo.constant dense<false> : tensor<1xi1>\n"
        "%both = stablehlo.concatenate %no, %failed, dim = 0 : "
        f"(tensor<1xi1>, tensor<1xi1>) -> tensor<2xi1>\n"
        f"return %more, %both : {B}, tensor<2xi1>",
    ),
    "grow": function(
        "grow",
        f"%i: {N}, %x: {F}, %end: {N}",
        f"{N}, {F}, tensor<1xi1>",
        f"{ABOVE_TEN}{ONE_MORE}{TWICE} return %next, %y, %failed : {N}, {F}, tensor<1xi1>",
    ),
    "step": function(
        "step",
        f"%c: {F}, %x: {F}",
        f"{F}, {F}, tensor<1xi1>",
        f"{ABOVE_TEN}%y = stablehlo.add %c, %x : {F}\n"
        f"return %y, %x, %failed : {F}, {F}, tensor<1xi1>",
    ),
}


def number(value: float) -> Tensor:
    return torch.tensor(value)


def count(value: int) -> Tensor:
    return torch.tensor(value)


@pytest.mark.parametrize("choice", [True, False])
@pytest.mark.parametrize("shape", [(), (1, 1)])
def test_one_of_two_functions_is_called(choice: bool, shape: tuple[int, ...]) -> None:
    operands = [torch.full(shape, choice), number(3.0)]
    made = call("cond", (), [DOUBLE, HALVE], operands, [number(0.0)])
    assert is_control_flow(made)
    (result,) = run(made, operands, PLAIN["double"], PLAIN["halve"])
    assert result.item() == (6.0 if choice else -3.0)


@pytest.mark.parametrize(
    ("choice", "value", "failed"), [(True, 11.0, True), (True, 9.0, False), (False, 11.0, False)]
)
def test_checks_of_the_function_that_is_not_called_have_not_failed(
    choice: bool, value: float, failed: bool
) -> None:
    operands = [torch.tensor(choice), number(value)]
    vector = torch.zeros(1, dtype=torch.bool)
    made = call("cond", (), [CHECKED["double"], HALVE], operands, [number(0.0), vector])
    _, found = run(made, operands, WITH_CHECKS["double"], PLAIN["halve"])
    assert found.tolist() == [failed]


@pytest.mark.parametrize("steps", [0, 1, 5])
def test_a_loop_goes_on_as_long_as_it_is_told(steps: int) -> None:
    operands = [count(0), number(1.0), count(steps)]
    made = call("while", (2,), [BELOW, GROW], operands, operands[:2])
    step, result = run(made, operands, PLAIN["below"], PLAIN["grow"])
    assert (step.item(), result.item()) == (steps, 2.0**steps)


@pytest.mark.parametrize(
    ("steps", "failed"), [(0, [0, 0, 0]), (4, [0, 1, 0]), (5, [0, 1, 1]), (9, [0, 1, 1])]
)
def test_a_check_that_failed_in_any_step_has_failed(steps: int, failed: list[int]) -> None:
    # 16 is seen by the condition after four steps, and by the fifth step.
    operands = [count(0), number(1.0), count(steps)]
    results = [*operands[:2], torch.zeros(3, dtype=torch.bool)]
    made = call("while", (2,), [CHECKED["below"], CHECKED["grow"]], operands, results)
    step, result, found = run(made, operands, WITH_CHECKS["below"], WITH_CHECKS["grow"])
    assert (step.item(), result.item()) == (steps, 2.0**steps)
    assert found.int().tolist() == failed


def test_a_check_of_the_steps_alone() -> None:
    operands = [count(0), number(1.0), count(5)]
    results = [*operands[:2], torch.zeros(1, dtype=torch.bool)]
    made = call("while", (2,), [BELOW, CHECKED["grow"]], operands, results)
    assert run(made, operands, PLAIN["below"], WITH_CHECKS["grow"])[2].tolist() == [True]


@pytest.mark.parametrize(
    ("values", "failed"), [([1.0, 2.0, 3.0], False), ([1.0, 12.0, 3.0], True), ([], False)]
)
def test_a_scan_carries_and_stacks(values: list[float], failed: bool) -> None:
    operands = [number(0.0), torch.tensor(values)]
    results = [number(0.0), torch.tensor(values), torch.zeros(1, dtype=torch.bool)]
    made = call("scan", (1, 1), [CHECKED["step"]], operands, results)
    total, stacked, found = run(made, operands, WITH_CHECKS["step"])
    assert total.item() == sum(values)
    assert stacked.tolist() == values
    assert found.tolist() == [failed]


def test_results_that_are_not_as_declared_are_an_error() -> None:
    operands = [torch.tensor(True), number(3.0)]
    with pytest.raises(LoweringError, match="do not give what it declares"):
        control_flow_body(call("cond", (), [DOUBLE, HALVE], operands, [count(0)]))


def test_a_function_that_takes_other_types_is_an_error() -> None:
    with pytest.raises(LoweringError, match="called with other types than it takes"):
        control_flow_body(call("call", (), [DOUBLE], [count(3)], [number(0.0)]))
