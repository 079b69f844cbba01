"""Nothing keeps models, arguments or results alive, and repeated calls do not grow the process."""

from __future__ import annotations

import gc
import os
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from parity import compiled, neuron_only


def collect() -> None:
    torch._dynamo.reset()
    gc.collect()


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def train_once() -> dict[str, Any]:
    module = nn.Linear(16, 16)
    function = compiled(module)
    x = torch.randn(2, 16)
    y = function(x)
    y.sum().backward()
    return {"weight": module.weight, "module": module, "argument": x, "result": y}


def test_deleted_model_its_arguments_and_results_are_freed() -> None:
    references = {name: weakref.ref(value) for name, value in train_once().items()}
    collect()
    assert [name for name, reference in references.items() if reference() is not None] == []


@neuron_only
def test_executables_are_freed_with_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    from neuron_compile.runtime.pjrt_executable import PjrtExecutable

    alive: weakref.WeakSet[PjrtExecutable] = weakref.WeakSet()
    load = PjrtExecutable._load

    def note(self: PjrtExecutable) -> None:
        alive.add(self)
        load(self)

    monkeypatch.setattr(PjrtExecutable, "_load", note)
    train_once()
    assert len(alive) == 2
    collect()
    gc.collect()  # the autograd function of the first round held them
    assert len(alive) == 0


def test_argument_and_result_are_freed_while_the_function_lives() -> None:
    function = compiled(lambda x: x * 2)
    x = torch.ones(8)
    references = [weakref.ref(x), weakref.ref(function(x))]
    del x
    gc.collect()
    assert all(reference() is None for reference in references)
    assert function(torch.ones(8)).sum() == 16


def test_activations_are_freed_when_no_backward_follows() -> None:
    function = compiled(lambda x: x.exp().sin().sum())
    x = torch.ones(8, requires_grad=True)
    reference = weakref.ref(x)
    for _ in range(3):
        function(x)
    del x
    gc.collect()
    assert reference() is None


def test_model_is_freed_after_a_backward_that_raised() -> None:
    def refuse(gradient: Tensor) -> None:
        raise ValueError("refused")

    def run() -> weakref.ref[Any]:
        module = nn.Linear(4, 4)
        x = torch.ones(1, 4, requires_grad=True)
        x.register_hook(refuse)
        with pytest.raises(ValueError, match="refused"):
            compiled(module)(x).sum().backward()
        return weakref.ref(module.weight)

    reference = run()
    collect()
    assert reference() is None


def test_training_steps_leave_no_tensors_behind() -> None:
    module = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    function = compiled(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)

    def steps(count: int) -> int:
        for _ in range(count):
            optimizer.zero_grad()
            function(torch.randn(4, 8)).sum().backward()
            optimizer.step()
        gc.collect()
        return sum(type(o) in (Tensor, nn.Parameter) for o in gc.get_objects())

    settled = steps(3)
    assert steps(10) == settled


def test_native_memory_of_results_is_given_back() -> None:
    function = compiled(lambda x: (x + 1, x.view(512, 512).t() * 2))
    x = torch.ones(512 * 512)
    for _ in range(20):
        function(x)
    settled = resident_megabytes()
    for _ in range(100):
        function(x)
    # Each call makes 2 MB; a leak of all of it would be 200.
    assert resident_megabytes() < settled + 40


def test_native_memory_of_new_arguments_is_given_back() -> None:
    function = compiled(lambda x, w: (x * w).sum())
    for _ in range(20):
        function(torch.ones(512 * 512), torch.ones(512 * 512))
    settled = resident_megabytes()
    for _ in range(100):
        function(torch.ones(512 * 512), torch.ones(512 * 512))
    assert resident_megabytes() < settled + 40
