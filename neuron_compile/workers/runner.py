"""Where actions are carried out: the seam between the conductor and the workers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from neuron_compile.lowering.program import TorchProgram

Blobs = Mapping[str, bytes]


class ActionRunner(Protocol):
    """Carries out the actions of one target. Thread-safe."""

    def lower(self, program: TorchProgram) -> Blobs:
        """Action 1. Raises `ConversionFailure`, `LoweringError`."""

    def convert(self, program: TorchProgram) -> None:
        """Torch-MLIR's part of it alone, for what it raises: `ConversionFailure`."""

    def generate(self, lowered: Blobs) -> Blobs:
        """Action 2. Raises `CodegenError`."""

    def warm(self, count: int = 1) -> None:
        """Get ready for `count` actions at the same time, in the background."""
