"""A workload: how long it takes to start, each mode in steady state, and the memory of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.cases.case import Context
from benchmarks.cases.modes import Step, step_of
from benchmarks.memory import forget_peak, peak_bytes
from benchmarks.protocol import Measurement
from benchmarks.workloads.workload import Workload

START: Final = "start"
# Optimizers make their state at the first step, and are compiled once more after it.
_WARM_UP_CALLS: Final = 2


@dataclass(frozen=True, slots=True)
class ModelCase:
    """Series: the workload's modes, and `start`: of the first mode, from before torch.compile to
    the end of the first call.

    Facts: `peak_bytes MODE` in steady state, `peak_bytes process` with compiling, and, in eager,
    `flops MODE` of the products and convolutions.
    """

    workload: Workload

    def measure(self, context: Context) -> Measurement:
        """See `Case`."""
        built = self.workload.built(context.scale)
        measurement = Measurement()
        process_peak = 0
        for number, mode in enumerate(self.workload.modes):
            step: Step

            def start(mode: str = mode) -> None:
                nonlocal step
                step = step_of(mode, built, context.backend)
                step()

            first = context.clock.once(start)
            if number == 0:
                measurement.series[START] = first
            for _ in range(_WARM_UP_CALLS):
                step()
            process_peak = max(process_peak, peak_bytes())
            forget_peak()
            measurement.series[mode] = context.clock.repeatedly(step, context.seconds)
            measurement.facts[f"peak_bytes {mode}"] = peak_bytes()
            if context.backend.is_eager:
                measurement.facts[f"flops {mode}"] = _flops(step)
        measurement.facts["peak_bytes process"] = max(process_peak, peak_bytes())
        return measurement


def _flops(step: Step) -> int:
    # Fused attention is counted as the products it is made of.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        step()
    return counter.get_total_flops()
