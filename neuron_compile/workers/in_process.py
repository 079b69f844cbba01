"""Actions in the calling process: `options={"workers": 0}`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from neuron_compile import actions
from neuron_compile.cache.blobs import Blobs
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.errors import ExecutionError, NeuronCompileError
from neuron_compile.lowering.diagnostics import ConversionFailure
from neuron_compile.lowering.program import TorchProgram
from neuron_compile.lowering.to_stablehlo import convert
from neuron_compile.pjrt.client import was_used_before_fork
from neuron_compile.workers.failure import explain_failure
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.recipe import recipe_of
from neuron_compile.workers.request import CONVERT, GENERATE, LOWER, Request


class InProcess:
    """Carries out actions here: nothing to start, and nothing to shield from.

    A native crash takes the process down, and no limits hold. What fails with another error than
    ours is a `LoweringError` or a `CodegenError` with a reproducer under `reproducers`, if given.
    All methods raise `ExecutionError` in a forked child that cannot compile.
    """

    def __init__(self, generator: CodeGenerator, *, reproducers: Path | None = None) -> None:
        self._generator = generator
        self._reproducers = reproducers

    @property
    def capacity(self) -> int:
        """One: in the caller's thread."""
        return 1

    def lower(self, program: TorchProgram) -> Blobs:
        """Torch dialect to StableHLO."""
        request = Request(LOWER, actions.encode_torch_program(program))
        return self._guard(request, lambda: actions.lower(request.inputs))

    def convert(self, program: TorchProgram) -> None:
        """Torch-MLIR alone."""
        request = Request(CONVERT, actions.encode_torch_program(program))
        self._guard(request, lambda: {"text": convert(program).encode()})

    def generate(self, lowered: Blobs) -> Blobs:
        """StableHLO to a NEFF."""
        request = Request(GENERATE, lowered, recipe_of(self._generator))
        return self._guard(request, lambda: actions.generate(lowered, self._generator))

    def warm(self, count: int = 1) -> None:
        """Nothing to do."""

    def _guard(self, request: Request, work: Callable[[], Blobs]) -> Blobs:
        global _has_compiled
        if _is_spoilt or was_used_before_fork():
            raise ExecutionError(
                "a forked process cannot compile in itself",
                why="its parent had used the compilers, whose threads do not survive a fork; they "
                "would abort or hang.",
                hint='let worker processes compile (options={"workers": 2}), or start processes '
                'with the method "spawn".',
            )
        _has_compiled = True
        try:
            return work()
        except (NeuronCompileError, ConversionFailure):
            raise
        except Exception as error:
            reason = f"{type(error).__qualname__}: {error}"
            raise explain_failure(
                request, ActionLimits(), reason, reproducers=self._reproducers
            ) from error


_has_compiled = False
_is_spoilt = False


def _after_fork_in_child() -> None:
    global _is_spoilt
    _is_spoilt |= _has_compiled


os.register_at_fork(after_in_child=_after_fork_in_child)
