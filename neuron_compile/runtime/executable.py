"""The seam between a loaded NEFF and the tensors of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch


class Executable(Protocol):
    """A loaded program. Thread-safe."""

    def execute(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Run on dense row-major CPU tensors and return fresh dense row-major tensors.

        The call returns after the work is done, reads inputs in place where it can, never writes
        them, and never returns memory that it or an input still uses. Raises `ExecutionError`.
        """
