from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from benchmarks.backends import Backend
from benchmarks.cases.modes import Modes
from benchmarks.workloads.listing import workload_named
from benchmarks.workloads.workload import Built


@dataclass(frozen=True, slots=True)
class Counting(Backend):
    """A backend that compiles nothing and counts what it is given to compile."""

    compiled: list[object]

    def compile(self, function: object) -> object:  # type: ignore[override]
        self.compiled.append(function)
        return function


def build() -> Built:
    return workload_named("mlp").built("tiny")


def gradients(built: Built) -> list[Tensor | None]:
    return [parameter.grad for parameter in built.model.parameters()]


def test_inference_leaves_no_gradients_and_the_model_in_evaluation() -> None:
    built = build()
    Modes(built, Backend("eager")).step("inference")()
    assert gradients(built) == [None] * 4
    assert not built.model.training


def test_forward_and_backward_do_not_add_gradients_up() -> None:
    built = build()
    step = Modes(built, Backend("eager")).step("forward_backward")
    step()
    first = [grad.clone() for grad in gradients(built) if grad is not None]
    step()
    torch.testing.assert_close(gradients(built), first, rtol=0, atol=0)
    assert len(first) == 4


@pytest.mark.parametrize("mode", ["train_step", "train_step_compiled"])
def test_a_train_step_updates_the_parameters_as_adamw_does(mode: str) -> None:
    built, twin = build(), build()
    Modes(built, Backend("eager")).step(mode)()
    optimizer = torch.optim.AdamW(twin.model.parameters(), lr=1e-4)
    twin.loss(twin.model, twin.batch).backward()
    optimizer.step()
    torch.testing.assert_close(built.model.state_dict(), twin.model.state_dict())


def test_modes_share_the_compiled_loss_and_only_one_compiles_the_optimizer() -> None:
    counting = Counting("neuron", [])
    modes = Modes(build(), counting)
    counts = []
    for mode in ("forward_backward", "inference", "train_step", "train_step_compiled"):
        modes.step(mode)()
        counts.append(len(counting.compiled))
    assert counts == [1, 2, 2, 3]
