"""Actions in workers, as the conductor sees them. The pool is a stand-in of this file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from fx_graphs import capture
from neuron_compile import (
    CodegenError,
    EnvironmentMismatchError,
    LoweringError,
    NeuronCompileWarning,
    actions,
)
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.lowering import TorchProgram
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.workers import in_workers
from neuron_compile.workers.error_codec import encode_error
from neuron_compile.workers.frames import Frame
from neuron_compile.workers.in_workers import InWorkers
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.pool import WorkersUnavailableError
from neuron_compile.workers.process import WorkerLostError
from neuron_compile.workers.request import Request
from neuron_compile.workers.runner import ToolsChangedError

LOWER_LIMITS, GENERATE_LIMITS = ActionLimits(1, 1.0), ActionLimits(2, 2.0)


class Pool:
    """Answers as it is told to, and keeps what it was asked."""

    def __init__(self, answer: Frame | Exception) -> None:
        self.answer = answer
        self.asked: list[tuple[Request, ActionLimits]] = []
        self.warmed: list[int] = []

    def run(self, request: Request, limits: ActionLimits) -> Frame:
        self.asked.append((request, limits))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def warm(self, count: int) -> None:
        self.warmed.append(count)


Answer = Callable[[Frame | Exception], Pool]


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Answer:
    def use(given: Frame | Exception) -> Pool:
        pool = Pool(given)
        monkeypatch.setattr(in_workers, "pool_of", lambda size: pool)
        return pool

    return use


def runner(folder: Path, generator: HostCodeGenerator | None = None) -> InWorkers:
    return InWorkers(
        2,
        generator or HostCodeGenerator(),
        lower_limits=LOWER_LIMITS,
        generate_limits=GENERATE_LIMITS,
        reproducers=folder,
    )


def program() -> TorchProgram:
    return from_fx(capture(lambda x: (x + 1,), torch.ones(3))).program


def test_each_action_goes_out_with_its_limits(tmp_path: Path, answer: Answer) -> None:
    pool = answer(Frame("done", {}, {"out": b"1"}))
    assert runner(tmp_path).lower(program()) == {"out": b"1"}
    assert runner(tmp_path).generate({"in": b"0"}) == {"out": b"1"}
    runner(tmp_path).convert(program())
    assert [(r.action, limits) for r, limits in pool.asked] == [
        ("lower", LOWER_LIMITS),
        ("generate", GENERATE_LIMITS),
        ("convert", LOWER_LIMITS),
    ]
    runner(tmp_path).warm(2)
    assert pool.warmed == [2]
    assert runner(tmp_path).capacity == 2


def test_error_of_ours_is_raised_as_it_is(tmp_path: Path, answer: Answer) -> None:
    answer(Frame("failed", encode_error(CodegenError("what", why="why"))))
    with pytest.raises(CodegenError, match="why"):
        runner(tmp_path).generate({})
    assert list(tmp_path.iterdir()) == []


def test_other_error_becomes_ours_with_a_reproducer(tmp_path: Path, answer: Answer) -> None:
    answer(Frame("failed", encode_error(KeyError("x"))))
    with pytest.raises(LoweringError, match="KeyError: 'x'") as raised:
        runner(tmp_path).lower(program())
    assert "reproducers" in raised.value.hint
    assert "KeyError" in str(raised.value.__cause__)


def test_lost_worker_becomes_our_error_with_its_last_words(tmp_path: Path, answer: Answer) -> None:
    lost = WorkerLostError("ended by signal 9", had_begun=True, signal_number=9, output="help!")
    answer(lost)
    with pytest.raises(CodegenError, match="out of memory") as raised:
        runner(tmp_path).generate({})
    assert raised.value.where == ("help!",)
    assert raised.value.__cause__ is lost


def test_without_workers_this_process_compiles_and_says_so(tmp_path: Path, answer: Answer) -> None:
    answer(WorkersUnavailableError("no processes left"))
    with pytest.warns(NeuronCompileWarning, match="no processes left"):
        lowered = runner(tmp_path).lower(program())
    assert lowered == actions.lower(actions.encode_torch_program(program()))


def test_generator_of_another_class_works_here(tmp_path: Path, answer: Answer) -> None:
    class Other(HostCodeGenerator):
        def generate(self, _program: object) -> dict[str, bytes]:
            return {"neff": b"other"}

    lowered = actions.lower(actions.encode_torch_program(program()))
    pool = answer(Frame("done"))
    other = runner(tmp_path, Other())
    assert other.generate(lowered) == {"neff": b"other"}
    assert other.capacity == 1
    assert pool.asked == []
    # Only lowering is left to workers: a second one would have nothing to do.
    other.warm(2)
    assert pool.warmed == [1]


def test_worker_of_older_code_is_followed_by_another(tmp_path: Path, answer: Answer) -> None:
    pool = answer(Frame("stale"))

    def run(request: Request, limits: ActionLimits) -> Frame:
        pool.asked.append((request, limits))
        return Frame("stale") if len(pool.asked) == 1 else Frame("done", {}, {"out": b"1"})

    pool.run = run  # type: ignore[method-assign]
    assert runner(tmp_path).lower(program()) == {"out": b"1"}
    assert len(pool.asked) == 2


def test_code_that_was_changed_asks_for_another_key(
    tmp_path: Path, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = answer(Frame("stale"))
    changes = iter([(("source", b"old"),), (("source", b"new"),)])

    class Tools:
        def __call__(self) -> actions.KeyParts:
            return next(changes)

        def cache_clear(self) -> None:
            pass

    monkeypatch.setattr(actions, "lowering_tools", Tools())
    with pytest.raises(ToolsChangedError):
        runner(tmp_path).lower(program())
    assert len(pool.asked) == 1


def test_other_tools_for_good_are_an_error(tmp_path: Path, answer: Answer) -> None:
    answer(Frame("stale"))
    with pytest.raises(EnvironmentMismatchError, match="restart"):
        runner(tmp_path).generate({})
