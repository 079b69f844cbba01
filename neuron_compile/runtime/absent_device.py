"""What stands where a NEFF for a device would be loaded, on a machine that cannot run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from neuron_compile.errors import ExecutionError

if TYPE_CHECKING:
    import torch


class AbsentDevice:
    """An executable whose calls raise `reason`: compiling needs no device, calling does."""

    def __init__(self, reason: ExecutionError) -> None:
        self._reason = reason

    def execute(self, inputs: Sequence[torch.Tensor]) -> NoReturn:  # noqa: ARG002 - the interface
        """Raise `ExecutionError`."""
        reason = self._reason
        raise ExecutionError(
            reason.what, where=reason.where, why=reason.why, hint=reason.hint
        ) from reason
