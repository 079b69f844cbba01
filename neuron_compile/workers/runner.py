"""Where actions are carried out: the seam between the conductor and the workers."""

from __future__ import annotations

from typing import Protocol

from neuron_compile.cache.blobs import Blobs
from neuron_compile.lowering.program import TorchProgram


class ToolsChangedError(Exception):
    """Our code was changed on disk under the running process: a key that was made of the old one
    does not belong to what a worker makes now. Make the key again."""


class ActionRunner(Protocol):
    """Carries out the actions of one target. Thread-safe."""

    @property
    def capacity(self) -> int:
        """How many actions run at the same time without harm to each other and to the caller."""

    def lower(self, program: TorchProgram) -> Blobs:
        """Action 1. Raises `ConversionFailure`, `LoweringError`, `ToolsChangedError`."""

    def convert(self, program: TorchProgram) -> None:
        """Torch-MLIR's part of it alone, for what it raises: `ConversionFailure`."""

    def generate(self, lowered: Blobs) -> Blobs:
        """Action 2. Raises `CodegenError`."""

    def warm(self, count: int = 1) -> None:
        """Get ready for `count` actions at the same time, in the background."""
