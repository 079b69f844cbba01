"""A warm-up from beginning to end, apart from how it is shown."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext

from neuron_compile.assembly import runner_for
from neuron_compile.compiler import Compiler
from neuron_compile.warmup.carry_out import OnExecutor
from neuron_compile.warmup.collect import Collection
from neuron_compile.warmup.compile_jobs import RunnerOf, mark_cached
from neuron_compile.warmup.job import Job
from neuron_compile.warmup.program import command_line, program
from neuron_compile.workers.runner import ActionRunner


@dataclasses.dataclass(frozen=True, slots=True)
class Collected:
    """What a program asked for, and what it ended with: None is a good end."""

    jobs: list[Job]
    error: BaseException | None


def collect(target: str, arguments: Sequence[str]) -> Collected:
    """Run the program `target` and collect its graphs, which it is given by eager PyTorch.

    Raises `OptionsError` if there is no such program, `KeyboardInterrupt` if it was interrupted.
    """
    collection = Collection()
    run = program(target)
    error: BaseException | None = None
    with command_line(target, arguments), collection.collecting():
        try:
            run()
        except SystemExit as end:
            error = end if end.code not in (None, 0) else None
        except Exception as failure:
            error = failure
    jobs = collection.jobs
    mark_cached(jobs)
    return Collected(jobs, error)


def local_runners(width: int) -> RunnerOf:
    """Runners in `width` worker processes of this machine, shared by all compilers of one kind."""

    def make(compiler: Compiler) -> ActionRunner:
        options = dataclasses.replace(compiler.options, workers=width)
        return runner_for(options, compiler.generator, compiler.cache.directory)

    return make


def executor_runners(executor: Executor) -> RunnerOf:
    """Runners whose actions are tasks of `executor`."""
    return lambda compiler: OnExecutor(executor, compiler.generator)


def executor_of(factory: Callable[[], Executor]) -> AbstractContextManager[Executor]:
    """What the user's factory gives, closed at the end if it can be."""
    executor = factory()
    return executor if hasattr(executor, "__exit__") else nullcontext(executor)
