"""Compiling jobs side by side."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from neuron_compile.errors import CodegenError
from neuron_compile.warmup.collect import Collection
from neuron_compile.warmup.compile_jobs import compile_jobs, mark_cached
from neuron_compile.warmup.job import Job, State
from neuron_compile.workers.in_process import InProcess
from warmup_jobs import job


class Recorder:
    """Remembers what it is shown."""

    def __init__(self) -> None:
        self.states: list[tuple[str, State]] = []
        self.waits: list[list[str]] = []

    def changed(self, job: Job) -> None:
        self.states.append((job.name, job.state))

    def waiting(self, compiling: Sequence[Job]) -> None:
        self.waits.append([job.name for job in compiling])


class Compiler:
    """Builds by a function."""

    def __init__(self, build: Any) -> None:
        self._build = build

    def on(self, _runner: Any) -> Compiler:
        return self

    def build(self, prepared: Any) -> Any:
        return self._build(prepared)


class Result:
    def __init__(self, is_hit: bool) -> None:
        self.is_hit = is_hit


def run(jobs: list[Job], width: int = 2, **options: Any) -> Recorder:
    recorder = Recorder()
    compile_jobs(jobs, lambda _: None, width, recorder, **options)  # type: ignore[arg-type,return-value]
    return recorder


def jobs_of(build: Any, count: int, **values: Any) -> list[Job]:
    return [job(str(i), compiler=Compiler(build), prepared=i, **values) for i in range(count)]


def test_largest_first_and_cached_ones_not_at_all() -> None:
    jobs = jobs_of(lambda _: Result(False), 3)
    jobs[2].node_count = 100
    jobs[1].state = State.CACHED
    recorder = run(jobs, width=1)
    assert recorder.states == [
        ("2", State.COMPILING),
        ("2", State.COMPILED),
        ("0", State.COMPILING),
        ("0", State.COMPILED),
    ]


def test_a_failure_is_its_jobs() -> None:
    def build(number: int) -> Result:
        if number == 1:
            raise CodegenError("no such instruction")
        return Result(is_hit=number == 2)

    jobs = jobs_of(build, 3)
    run(jobs)
    assert [j.state for j in jobs] == [State.COMPILED, State.FAILED, State.CACHED]
    assert str(jobs[1].error) == "no such instruction"


def test_job_for_which_there_is_no_runner_fails_alone() -> None:
    jobs = jobs_of(lambda _: Result(False), 3)

    def runner_of(compiler: Any) -> Any:
        if compiler is jobs[1].compiler:
            raise CodegenError("no cluster")

    compile_jobs(jobs, runner_of, 1, Recorder())
    assert [j.state for j in jobs] == [State.COMPILED, State.FAILED, State.COMPILED]
    assert str(jobs[1].error) == "no cluster"


def test_as_many_at_once_as_asked_for() -> None:
    both = threading.Barrier(2, timeout=30)

    def build(_: int) -> Result:
        both.wait()
        return Result(False)

    jobs = jobs_of(build, 4)
    run(jobs, width=2)
    assert [j.state for j in jobs] == [State.COMPILED] * 4


def test_says_what_is_waited_for() -> None:
    told = threading.Event()

    def build(_: int) -> Result:
        assert told.wait(30)
        return Result(False)

    class Telling(Recorder):
        def waiting(self, compiling: Sequence[Job]) -> None:
            super().waiting(compiling)
            told.set()

    recorder = Telling()
    compile_jobs(
        jobs_of(build, 1),
        lambda _: None,  # type: ignore[arg-type,return-value]
        1,
        recorder,
        heartbeat_seconds=0.01,
    )
    assert ["0"] in recorder.waits


def test_an_interruption_leaves_the_rest_for_another_time() -> None:
    class Interrupted(Recorder):
        def waiting(self, compiling: Sequence[Job]) -> None:
            raise KeyboardInterrupt

    end = threading.Event()

    def build(_: int) -> Result:
        assert end.wait(30)
        return Result(False)

    jobs = jobs_of(build, 3)
    with pytest.raises(KeyboardInterrupt):
        compile_jobs(
            jobs,
            lambda _: None,  # type: ignore[arg-type,return-value]
            1,
            Interrupted(),
            heartbeat_seconds=0.01,
        )
    end.set()
    assert [j.state for j in jobs[1:]] == [State.WAITING] * 2


class Twice(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.sin() * 2).sum()


def test_collected_graphs_are_in_the_cache_afterwards() -> None:
    collection = Collection()
    with collection.collecting():
        compiled: Any = torch.compile(torch.nn.Sequential(Twice()), backend="neuron")
        compiled(torch.ones(3, requires_grad=True))
    jobs = collection.jobs
    mark_cached(jobs)
    assert [j.state for j in jobs] == [State.WAITING] * 2
    recorder = Recorder()
    compile_jobs(jobs, lambda compiler: InProcess(compiler.generator), 1, recorder)
    assert [j.state for j in jobs] == [State.COMPILED] * 2
    for j in jobs:
        j.state = State.WAITING
    mark_cached(jobs)
    assert [j.state for j in jobs] == [State.CACHED] * 2
