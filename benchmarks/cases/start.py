"""How long a workload takes to start: nothing but its first forward and backward."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.cases.case import Context
from benchmarks.cases.modes import Modes
from benchmarks.names import FORWARD_BACKWARD, START
from benchmarks.protocol import Measurement
from benchmarks.workloads.workload import Workload


@dataclass(frozen=True, slots=True)
class StartCase:
    """Series: `start`, from before torch.compile to the first backward done. The process has
    imported torch and built the model before."""

    workload: Workload

    def measure(self, context: Context) -> Measurement:
        """See `Case`."""
        modes = Modes(self.workload.built(context.scale), context.backend)
        return Measurement({START: context.clock.once(modes.step(FORWARD_BACKWARD))})
