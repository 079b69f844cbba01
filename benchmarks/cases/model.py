"""A workload: how long it takes to start, each mode in steady state, and the memory of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.cases.case import Context
from benchmarks.cases.modes import Modes, Step
from benchmarks.memory import forget_peak, peak_bytes
from benchmarks.names import PROCESS_PEAK, START, flops_of, peak_of
from benchmarks.protocol import Measurement
from benchmarks.workloads.workload import Workload

# Optimizers make their state at the first step, and are compiled once more after it.
_WARM_UP_CALLS: Final = 2


@dataclass(frozen=True, slots=True)
class ModelCase:
    """Series: the workload's modes, and the start of the first mode, from before torch.compile to
    the end of the first call.

    Facts: the peak of memory of each mode in steady state, that of the process with compiling, and,
    in eager, each mode's floating point operations.
    """

    workload: Workload

    def measure(self, context: Context) -> Measurement:
        """See `Case`."""
        modes = Modes(self.workload.built(context.scale), context.backend)
        measured = Measurement()
        process_peak = 0
        for number, mode in enumerate(self.workload.modes):
            step = modes.step(mode)
            first = context.clock.once(step)
            if number == 0:
                measured.series[START] = first
            for _ in range(_WARM_UP_CALLS):
                step()
            process_peak = max(process_peak, peak_bytes())
            forget_peak()
            measured.series[mode] = context.clock.repeatedly(step, context.seconds)
            measured.facts[peak_of(mode)] = peak_bytes()
            if context.backend.is_eager:
                measured.facts[flops_of(mode)] = _flops(step)
        measured.facts[PROCESS_PEAK] = max(process_peak, peak_bytes())
        return measured


def _flops(step: Step) -> int:
    # Fused attention is counted as the products that it is made of.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        step()
    total: int = counter.get_total_flops()
    return total
