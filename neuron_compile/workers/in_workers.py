"""Actions in worker processes."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from neuron_compile import actions
from neuron_compile.cache.blobs import Blobs
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.errors import EnvironmentMismatchError, NeuronCompileWarning
from neuron_compile.lowering.program import TorchProgram
from neuron_compile.workers.error_codec import ForeignError, decode_error
from neuron_compile.workers.failure import explain_failure
from neuron_compile.workers.in_process import InProcess
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.pool import WorkersUnavailableError
from neuron_compile.workers.pools import pool_of
from neuron_compile.workers.process import WorkerLostError
from neuron_compile.workers.recipe import recipe_of
from neuron_compile.workers.request import CONVERT, GENERATE, LOWER, Request, identity
from neuron_compile.workers.runner import ToolsChangedError

Result = TypeVar("Result")

_OUT_OF_MEMORY: Final = (
    "it was killed twice, most likely because the machine ran out of memory: use a smaller model "
    "or a machine with more."
)


class InWorkers:
    """Carries out actions in the process's pool of `size` workers, each within its limits.

    An action that takes its worker down is a `LoweringError` or a `CodegenError` with a reproducer
    under the folder `reproducers`. Where no worker can be started, this process compiles, with a
    warning.
    """

    def __init__(
        self,
        size: int,
        generator: CodeGenerator,
        *,
        lower_limits: ActionLimits,
        generate_limits: ActionLimits,
        reproducers: Path,
    ) -> None:
        self._size = size
        self._recipe = recipe_of(generator)
        self._here = InProcess(generator, reproducers=reproducers)
        self._limits = {
            LOWER: lower_limits,
            CONVERT: lower_limits,
            GENERATE: generate_limits,
        }
        self._reproducers = reproducers

    @property
    def capacity(self) -> int:
        """The number of workers; one if part of the work has to be done here."""
        return 1 if self._recipe is None else self._size

    def lower(self, program: TorchProgram) -> Blobs:
        """Torch dialect to StableHLO."""
        request = Request.to(LOWER, actions.encode_torch_program(program))
        return self._run(request, lambda: self._here.lower(program))

    def convert(self, program: TorchProgram) -> None:
        """Torch-MLIR alone."""
        request = Request.to(CONVERT, actions.encode_torch_program(program))
        self._run(request, lambda: self._here.convert(program))

    def generate(self, lowered: Blobs) -> Blobs:
        """StableHLO to a NEFF: here, if the code generator cannot be built elsewhere."""
        if self._recipe is None:
            return self._here.generate(lowered)
        request = Request.to(GENERATE, lowered, self._recipe)
        return self._run(request, lambda: self._here.generate(lowered))

    def warm(self, count: int = 1) -> None:
        """Start workers in the background."""
        pool_of(self._size).warm(min(count, self.capacity))

    def _run(self, request: Request, here: Callable[[], Result]) -> Blobs | Result:
        limits = self._limits[request.action]
        # Each worker may be of another age.
        for _ in range(self._size + 1):
            try:
                answer = pool_of(self._size).run(request, limits)
            except WorkersUnavailableError as unavailable:
                _warn(unavailable)
                return here()
            except WorkerLostError as lost:
                raise explain_failure(
                    request,
                    limits,
                    lost.reason,
                    hint=_OUT_OF_MEMORY if lost.signal_number == signal.SIGKILL else "",
                    output=lost.output,
                    reproducers=self._reproducers,
                ) from lost
            if answer.kind == "done":
                return answer.blobs
            if answer.kind == "failed":
                raise self._error(request, limits, decode_error(answer.values))
            _require_current(request)
        raise _changed()

    def _error(self, request: Request, limits: ActionLimits, error: Exception) -> Exception:
        if not isinstance(error, ForeignError):
            return error
        explained = explain_failure(request, limits, str(error), reproducers=self._reproducers)
        explained.__cause__ = error
        return explained


def _require_current(request: Request) -> None:
    """Raise unless the request asks for what the code on disk makes: then its worker was older."""
    if request.recipe is None:
        actions.lowering_tools.cache_clear()
        if identity(request.action, None) != request.identity:
            raise ToolsChangedError


def _changed() -> EnvironmentMismatchError:
    return EnvironmentMismatchError(
        "neuron-compile or its tools were changed under a running process",
        why="a worker process started now compiles by other rules than those this process enters "
        "into the cache's keys.",
        hint="restart the program.",
    )


def _warn(unavailable: WorkersUnavailableError) -> None:
    warnings.warn(
        f"no worker process could be started, so this process compiles: {unavailable}",
        NeuronCompileWarning,
        stacklevel=2,
    )
