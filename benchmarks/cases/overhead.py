"""What torch.compile and our runtime add to executing the same StableHLO through jaxlib."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import torch

from benchmarks.cases.case import Context
from benchmarks.cases.modes import Modes
from benchmarks.names import INFERENCE, directly, through_us
from benchmarks.protocol import Measurement
from benchmarks.workloads.workload import Workload


@dataclass(frozen=True, slots=True)
class OverheadCase:
    """Series for each workload: its inference through torch.compile, and the program alone.

    Both in one process and in turn, since a difference of a few percent is asked for.
    """

    workloads: tuple[Workload, ...]

    def measure(self, context: Context) -> Measurement:
        """See `Case`. The backend is ours."""
        measured = Measurement()
        for workload in self.workloads:
            modes = Modes(workload.built(context.scale), context.backend)
            compiled = modes.step(INFERENCE)
            with tempfile.TemporaryDirectory() as folder:
                with mock.patch.dict(os.environ, NEURON_COMPILE_DEBUG_DIR=folder):
                    compiled()
                (program,) = Path(folder).glob("*/stablehlo.mlir")
                direct = _executable(program.read_text(), _inputs_of(compiled))
            for _ in range(3):
                compiled()
                direct()
            for name, call, other in (
                (through_us(workload.name), compiled, direct),
                (directly(workload.name), direct, compiled),
            ):
                measured.series[name] = context.clock.repeatedly(
                    call, context.seconds, before=other
                )
        return measured


def _inputs_of(compiled: Callable[[], object]) -> list[torch.Tensor]:
    """What our runtime gives the program in a call."""
    from neuron_compile.runtime.pjrt_executable import PjrtExecutable

    calls: list[list[torch.Tensor]] = []
    execute = PjrtExecutable.execute

    def recorded(self: PjrtExecutable, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        calls.append(list(inputs))
        return execute(self, inputs)

    with mock.patch.object(PjrtExecutable, "execute", recorded):
        compiled()
    (inputs,) = calls
    return inputs


def _executable(stablehlo: str, inputs: list[torch.Tensor]) -> Callable[[], object]:
    from jaxlib import _jax, xla_client
    from torch._C import _to_dlpack

    client = xla_client.make_cpu_client(asynchronous=False)
    device = client.local_devices()[0]
    loaded = client.compile_and_load(
        stablehlo, _jax.DeviceList((device,)), xla_client.CompileOptions()
    )
    buffers = [
        _jax.dlpack_managed_tensor_to_buffer(_to_dlpack(tensor.detach()), device, None)
        for tensor in inputs
    ]
    return lambda: loaded.execute_sharded(buffers)
