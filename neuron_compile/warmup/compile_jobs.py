"""Compiles collected graphs side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Protocol

from neuron_compile.compiler import Compiler
from neuron_compile.eager_fallback import compile_around
from neuron_compile.errors import UnsupportedOpError
from neuron_compile.warmup.job import Job, State
from neuron_compile.workers.runner import ActionRunner

RunnerOf = Callable[[Compiler], ActionRunner]


class Display(Protocol):
    """Shows progress. Called by several threads."""

    def changed(self, job: Job) -> None:
        """The job's state is another one."""

    def waiting(self, compiling: Sequence[Job]) -> None:
        """Called now and then while nothing changes."""


def mark_cached(jobs: Sequence[Job]) -> None:
    """Find out which jobs there is nothing to do for."""
    for job in jobs:
        if job.state is State.WAITING and job.compiler.is_built(job.key):
            job.state = State.CACHED


def compile_jobs(
    jobs: Sequence[Job],
    runner_of: RunnerOf,
    width: int,
    display: Display,
    *,
    heartbeat_seconds: float = 30.0,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Compile the waiting jobs, `width` at a time, the largest first.

    A failure is its job's. `KeyboardInterrupt` comes through; what was not finished waits again.
    """
    pending = sorted(
        (job for job in jobs if job.state is State.WAITING), key=lambda job: -job.node_count
    )
    pool = ThreadPoolExecutor(width, thread_name_prefix="neuron-compile warm-up")
    try:
        left: set[Future[None]] = {
            pool.submit(_compile, job, runner_of, display, clock) for job in pending
        }
        while left:
            done, left = wait(left, timeout=heartbeat_seconds, return_when="FIRST_COMPLETED")
            for future in done:
                future.result()
            if not done:
                display.waiting([job for job in pending if job.state is State.COMPILING])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _compile(job: Job, runner_of: RunnerOf, display: Display, clock: Callable[[], float]) -> None:
    assert job.prepared is not None
    job.state = State.COMPILING
    display.changed(job)
    start = clock()
    try:
        compiler = job.compiler.on(runner_of(job.compiler))
        is_hit = _build(compiler, job)
        job.state = State.CACHED if is_hit else State.COMPILED
    except Exception as error:
        job.error, job.state = error, State.FAILED
    job.seconds = clock() - start
    display.changed(job)


def _build(compiler: Compiler, job: Job) -> bool:
    """Fill the cache; whether there was nothing to do."""
    assert job.prepared is not None
    try:
        return compiler.build(job.prepared).is_hit
    except UnsupportedOpError as error:
        if compiler.options.fallback != "eager":
            raise
        compile_around(error, job.prepared.graph, compiler)
        return False
