"""Processes forked after import and after compilation work, and never hang."""

from __future__ import annotations

import multiprocessing
import os
import select
from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from parity import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [
    pytest.mark.multiprocess,
    # Newer Pythons warn of any fork in a process that has threads.
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

SECONDS = 60


@pytest.fixture(autouse=True)
def compile_in_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A forked child cannot compile by itself once its parent has used XLA."""
    monkeypatch.setenv("NEURON_COMPILE_WORKERS", "2")


def in_a_forked_child(check: Callable[[], bool]) -> int:
    """Exit status of a child that ran `check`: 0 true, 3 false, 4 an exception, -9 it hung."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if check() else 3)
        except BaseException:
            os._exit(4)
    descriptor = os.pidfd_open(child)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    try:
        if not poll.poll(SECONDS * 1000):
            os.kill(child, 9)
    finally:
        os.close(descriptor)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_child_calls_what_the_parent_compiled() -> None:
    function = compiled(lambda x: x + 1)
    x = torch.ones(2)
    function(x)
    assert in_a_forked_child(lambda: torch.equal(function(x), torch.full((2,), 2.0))) == 0
    assert torch.equal(function(x), torch.full((2,), 2.0))


def test_child_calls_it_with_the_parents_weights_as_they_are() -> None:
    module = nn.Linear(4, 2)
    function = compiled(module)
    x = torch.randn(3, 4)
    function(x).sum().backward()
    with torch.no_grad():
        module.weight.add_(1)
    expected = module(x).detach()
    assert in_a_forked_child(lambda: torch.allclose(function(x), expected)) == 0
    torch.testing.assert_close(function(x), expected)


def test_child_runs_backward() -> None:
    function = compiled(lambda t: (t * t).sum())
    function(torch.ones(3, requires_grad=True)).backward()

    def check() -> bool:
        x = torch.full((3,), 2.0, requires_grad=True)
        function(x).backward()
        return x.grad is not None and torch.equal(x.grad, torch.full((3,), 4.0))

    assert in_a_forked_child(check) == 0


def test_child_compiles_something_new() -> None:
    compiled(lambda x: x + 1)(torch.ones(2))
    new = compiled(lambda x: x * 3)
    assert in_a_forked_child(lambda: torch.equal(new(torch.ones(2)), torch.full((2,), 3.0))) == 0


def test_child_compiles_before_the_parent_did() -> None:
    function = compiled(lambda x: x - 1)
    assert in_a_forked_child(lambda: torch.equal(function(torch.ones(2)), torch.zeros(2))) == 0
    assert torch.equal(function(torch.ones(2)), torch.zeros(2))


def test_daemonic_child_compiles_something_new() -> None:
    """A data loader's workers are such, and may have no children by `multiprocessing`."""
    new = compiled(lambda x: x * 5)

    def check() -> None:
        assert multiprocessing.current_process().daemon
        os._exit(0 if torch.equal(new(torch.ones(2)), torch.full((2,), 5.0)) else 3)

    child = multiprocessing.get_context("fork").Process(target=check, daemon=True)
    child.start()
    child.join(SECONDS)
    assert child.exitcode == 0


def test_several_children_at_once() -> None:
    function = compiled(lambda x: x * 2)
    function(torch.ones(4))
    children = []
    for number in range(3):
        child = os.fork()
        if child == 0:
            x = torch.full((4,), float(number))
            os._exit(0 if torch.equal(function(x), x * 2) else 3)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children] == [0, 0, 0]


class Squares(Dataset[tuple[Tensor, Tensor]]):
    """Makes its samples with torch, in the worker."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        x = torch.linspace(-1, 1, 4) * index
        return x, (x @ x).reshape(1)


def test_training_with_data_loader_workers_started_before_and_after_compilation() -> None:
    torch.manual_seed(0)
    losses = []
    for wrap in (lambda m: m, compiled):
        torch.manual_seed(1)
        module = nn.Linear(4, 1)
        function = wrap(module)
        optimizer = torch.optim.SGD(module.parameters(), lr=1e-3)
        loader = DataLoader(Squares(), batch_size=4, num_workers=2)
        history = []
        for _ in range(2):
            for x, y in loader:
                loss = (function(x) - y).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                history.append(loss.item())
        losses.append(history)
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


class Transformed(Dataset[Tensor]):
    """Applies a compiled function in the worker."""

    def __init__(self) -> None:
        self.function = compiled(lambda x: x * 2 + 1)
        self.function(torch.zeros(3))

    def __len__(self) -> int:
        return 4

    def __getitem__(self, index: int) -> Tensor:
        y: Tensor = self.function(torch.full((3,), float(index)))
        return y


def test_compiled_transform_inside_data_loader_workers() -> None:
    loader = DataLoader(Transformed(), batch_size=2, num_workers=2)
    rows = torch.cat(list(loader))
    assert torch.equal(rows[:, 0], torch.tensor([1.0, 3.0, 5.0, 7.0]))
