"""Host NEFFs, run by XLA:CPU on PyTorch's memory.

Inputs are lent to XLA through DLPack without a copy (XLA copies those that are not aligned to its
vector width), outputs are XLA's own buffers handed to PyTorch the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neuron_compile.errors import ExecutionError
from neuron_compile.pjrt import client as pjrt
from neuron_compile.pjrt.foreign_function import take_failure
from neuron_compile.pjrt.host_convolution import CONVOLUTION
from neuron_compile.pjrt.host_kernels import (
    HOST_KERNELS,
    OPERATOR,
    ensure_host_kernels,
    implement,
)
from neuron_compile.pjrt.lapack import ensure_lapack
from neuron_compile.runtime.aten_convolution import aten_convolution
from neuron_compile.runtime.aten_operator import aten_operator
from neuron_compile.runtime.host_threads import note_callers_threads
from neuron_compile.runtime.keep_memory import keep_memory
from neuron_compile.runtime.lent_buffers import LentBuffers

if TYPE_CHECKING:
    import torch


implement(CONVOLUTION, aten_convolution)
implement(OPERATOR, aten_operator)


class PjrtExecutable:
    """A loaded XLA:CPU executable. `code` stays in memory so that a forked child can load it."""

    def __init__(self, code: bytes, custom_calls: tuple[str, ...] = ()) -> None:
        self._code = code
        self._custom_calls = custom_calls
        self._load()

    def _load(self) -> None:
        from jaxlib import _jax
        from torch._C import _from_dlpack

        keep_memory()
        ensure_lapack(self._custom_calls)
        ensure_host_kernels(self._custom_calls)
        self._calls_torch = not HOST_KERNELS.isdisjoint(self._custom_calls)
        self._generation = pjrt.generation()
        devices = pjrt.devices()
        try:
            self._loaded = pjrt.client().deserialize_executable(self._code, devices, None)
        except RuntimeError as error:
            raise ExecutionError(
                "XLA could not load a host executable",
                why=str(error).strip(),
                hint="clear the cache with `neuron-compile cache clear`.",
            ) from error
        self._lent = LentBuffers(pjrt.client().local_devices()[0])
        self._export = _jax.buffer_to_dlpack_managed_tensor
        self._from_dlpack = _from_dlpack

    def execute(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """See `Executable.execute`."""
        if self._generation != pjrt.generation():
            self._load()
        if self._calls_torch:
            note_callers_threads()
        try:
            results = self._loaded.execute_sharded(self._lent.lend(inputs))
        except RuntimeError as error:
            failure = take_failure()
            if isinstance(failure, KeyboardInterrupt):
                raise failure from None
            raise ExecutionError(
                "a compiled graph failed while running on the host", why=str(error).strip()
            ) from (failure or error)
        from_dlpack, to_capsule = self._from_dlpack, self._export
        return [
            from_dlpack(to_capsule(result[0]))
            for result in results.disassemble_into_single_device_arrays()
        ]
