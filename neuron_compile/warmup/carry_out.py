"""Actions on any `concurrent.futures.Executor`: a process pool, a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Executor
from typing import Any

from neuron_compile import actions
from neuron_compile.cache.blobs import Blobs
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.errors import CodegenError, LoweringError
from neuron_compile.lowering.program import TorchProgram
from neuron_compile.workers.error_codec import ForeignError, decode_error, encode_error
from neuron_compile.workers.recipe import recipe_of
from neuron_compile.workers.request import CONVERT, GENERATE, LOWER, TASKS, Request, identity

Answer = tuple[str, dict[str, Any], dict[str, bytes]]


def carry_out(values: Mapping[str, Any], inputs: Blobs) -> Answer:
    """Do what a `Request` in JSON asks for, wherever this is called: plain values in and out.

    Answers `done` with blobs, `failed` with an encoded error, or `stale` where the tools or the CPU
    are others than those that asked.
    """
    request = Request.from_json(values, inputs)
    if request.identity != identity(request.action, request.recipe):
        return "stale", {}, {}
    try:
        return "done", {}, dict(TASKS[request.action](request, lambda _seconds, _line: None))
    except Exception as error:
        return "failed", encode_error(error), {}


class OnExecutor:
    """An `ActionRunner` whose actions are tasks of an executor."""

    def __init__(self, executor: Executor, generator: CodeGenerator) -> None:
        self._executor = executor
        self._recipe = recipe_of(generator)

    @property
    def capacity(self) -> int:
        """One for each caller: the executor queues."""
        return 1

    def lower(self, program: TorchProgram) -> Blobs:
        """Torch dialect to StableHLO."""
        return self._run(Request.to(LOWER, actions.encode_torch_program(program)))

    def convert(self, program: TorchProgram) -> None:
        """Torch-MLIR alone."""
        self._run(Request.to(CONVERT, actions.encode_torch_program(program)))

    def generate(self, lowered: Blobs) -> Blobs:
        """StableHLO to a NEFF."""
        return self._run(Request.to(GENERATE, lowered, self._recipe))

    def warm(self, count: int = 1) -> None:
        """Executors start by themselves."""

    def _run(self, request: Request) -> Blobs:
        kind = CodegenError if request.action == GENERATE else LoweringError
        task = self._executor.submit(carry_out, request.to_json(), dict(request.inputs))
        try:
            answer, values, blobs = task.result()
        except Exception as error:
            raise kind(
                f"the executor could not {request.action} a graph",
                why=f"{type(error).__qualname__}: {error}",
                hint="see the logs of its workers; what has been compiled is kept.",
            ) from error
        if answer == "done":
            return blobs
        if answer == "stale":
            raise kind(
                "a worker of the executor would compile something else",
                why="its neuron-compile, its tools or its CPU are not those of this machine.",
                hint="install the same versions on every worker, and give host targets workers of "
                "one kind.",
            )
        failure = decode_error(values)
        if isinstance(failure, ForeignError):
            what = f"the executor could not {request.action} a graph"
            raise kind(what, why=str(failure)) from failure
        raise failure
