"""AOTAutograd's calling convention around an executable that does next to nothing."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from neuron_compile import ExecutionError
from neuron_compile.lowering import RuntimeCheck, Signature, TensorSpec
from neuron_compile.lowering.program import (
    ConstantResult,
    CopiedResult,
    InputResult,
    SameResult,
    ViewResult,
)
from neuron_compile.runtime.compiled_graph import CompiledGraph

VECTOR = TensorSpec((2,), "float32", (1,))


class Doubles:
    """Gives twice each of its inputs, and what it is told to give besides."""

    def __init__(self, *extra: Tensor) -> None:
        self.extra = extra
        self.seen: list[Tensor] = []

    def execute(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        self.seen = list(inputs)
        return [*(2 * tensor for tensor in inputs if tensor.dtype == torch.float32), *self.extra]


def graph(executable: Doubles, **fields: Any) -> CompiledGraph:
    defaults: dict[str, Any] = {
        "inputs": (VECTOR,),
        "kept_inputs": (0,),
        "outputs": (VECTOR,),
        "result_slots": (0,),
    }
    return CompiledGraph("net", Signature(**(defaults | fields)), executable)


def test_arguments_are_taken_out_of_the_callers_list() -> None:
    args = [torch.ones(2)]
    (result,) = graph(Doubles())(args)
    assert args == []
    assert result.tolist() == [2, 2]


def test_convention_is_marked_on_the_instance() -> None:
    assert vars(graph(Doubles()))["_boxed_call"] is True


def test_unused_arguments_and_numbers_do_not_reach_the_program() -> None:
    executable = Doubles()
    compiled = graph(executable, inputs=(None, VECTOR, VECTOR), kept_inputs=(2,))
    compiled([7, torch.zeros(2), torch.ones(2)])
    assert [tensor.tolist() for tensor in executable.seen] == [[1, 1]]


def test_results_that_need_no_computation_take_their_places() -> None:
    last = TensorSpec((1,), "float32", (1,))
    slots = (
        None,
        0,
        InputResult(1),
        ConstantResult(5),
        SameResult(1),
        CopiedResult(1),
        ViewResult(0, last, 1),
    )
    compiled = graph(Doubles(), inputs=(VECTOR, VECTOR), result_slots=slots)
    kept = torch.zeros(2)
    none, doubled, argument, constant, same, copied, view = compiled([torch.ones(2), kept])
    assert none is None
    assert argument is kept
    assert constant == 5
    assert same is not doubled
    doubled[1] = 7
    assert same.tolist() == [2, 7]
    assert copied.tolist() == [2, 2]
    assert view.tolist() == [7]


def test_a_program_with_other_results_than_promised_is_an_error() -> None:
    with pytest.raises(ExecutionError, match="has 1 results, its program 2"):
        graph(Doubles(torch.ones(2)))([torch.ones(2)])


def test_each_call_draws_its_seeds_from_torchs_generator() -> None:
    executable = Doubles()
    compiled = graph(executable, seed_count=1)
    seeds = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        compiled([torch.ones(2)])
        seeds.append(executable.seen[1])
    assert seeds[0].dtype == torch.int64
    assert seeds[0].shape == (1,)
    assert torch.equal(seeds[0], seeds[1])
    assert not torch.equal(seeds[0], seeds[2])


def test_graph_without_random_numbers_leaves_the_generator_alone() -> None:
    state = torch.get_rng_state()
    graph(Doubles())([torch.ones(2)])
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(
    ("failed", "kind", "message"),
    [
        ([False, True], ZeroDivisionError, "second"),
        ([True, True], IndexError, "first"),
    ],
)
def test_first_failed_check_raises_what_eager_would(
    failed: list[bool], kind: type[Exception], message: str
) -> None:
    checks = (RuntimeCheck("IndexError", "first"), RuntimeCheck("ZeroDivisionError", "second"))
    with pytest.raises(kind, match=message):
        graph(Doubles(torch.tensor(failed)), checks=checks)([torch.ones(2)])


def test_checks_that_hold_leave_no_trace_in_the_results() -> None:
    checks = (RuntimeCheck("IndexError", "first"),)
    results = graph(Doubles(torch.tensor([False])), checks=checks)([torch.ones(2)])
    assert [result.tolist() for result in results] == [[2, 2]]


def test_wrong_number_of_arguments_is_refused() -> None:
    with pytest.raises(ExecutionError, match="graph net takes 1 arguments, got 2"):
        graph(Doubles())([torch.ones(2), torch.ones(2)])


def test_number_cannot_be_taken_as_a_tensor() -> None:
    with pytest.raises(ExecutionError, match="takes a number as a tensor"):
        graph(Doubles(), inputs=(None,))


def test_arguments_are_held_no_longer_than_needed() -> None:
    wide = TensorSpec((2,), "float64", (1,))
    tensors = [torch.ones(2), torch.ones(2), torch.ones(2, dtype=torch.float64), torch.ones(2)]
    used, unused, converted, returned = map(weakref.ref, tensors)
    seen: list[bool] = []

    class Looks(Doubles):
        def execute(self, inputs: Sequence[Tensor]) -> list[Tensor]:
            seen.extend(ref() is not None for ref in (used, unused, converted, returned))
            return [2 * inputs[0]]

    compiled = graph(
        Looks(),
        inputs=(VECTOR, VECTOR, wide, VECTOR),
        kept_inputs=(0, 2),
        result_slots=(0, InputResult(3)),
    )

    def leave(result: Tensor) -> Tensor:
        seen.append(used() is not None)
        return result

    compiled._leaves = ((0, leave),)
    _, last = compiled(tensors)
    assert seen == [True, False, False, True, False]
    assert last is returned()
