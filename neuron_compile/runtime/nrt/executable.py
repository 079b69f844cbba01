"""A NEFF loaded onto a NeuronCore, behind the interface that every runtime has."""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from neuron_compile.cache.forks import Guard
from neuron_compile.errors import ExecutionError
from neuron_compile.runtime.nrt.device_tensor import DeviceTensor, device_tensor
from neuron_compile.runtime.nrt.library import ON_DEVICE, USAGE_INPUT, Handle, TensorInfoArray
from neuron_compile.runtime.nrt.status import COMPLETED_WITH_NAN, SUCCESS, NrtError, check

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch

    from neuron_compile.artifact.manifest import Manifest
    from neuron_compile.lowering import TensorSpec
    from neuron_compile.runtime.nrt.runtime import NrtRuntime


class NrtExecutable:
    """A device NEFF on NeuronCore `core` of those visible to the process.

    Device memory for inputs and outputs is allocated once. Calls from several threads take turns.
    Raises `NrtError` if the runtime refuses the NEFF, `ExecutionError` if the NEFF and the manifest
    do not describe the same tensors.
    """

    def __init__(
        self, neff: bytes, manifest: Manifest, runtime: NrtRuntime, *, core: int = 0
    ) -> None:
        self._runtime = runtime
        self._library: Any = runtime.library
        self._core = core
        self._lock = Guard()
        # The runtime is not documented to copy these.
        self._neff = neff
        self._names: list[bytes] = []
        self._model = Handle()
        self._sets: list[Handle] = []
        self._tensors: list[Handle] = []
        runtime.require_usable()
        runtime.keep(self)
        try:
            self._load(neff)
            inputs, outputs = self._declared()
            self._inputs = _matched("input", manifest.inputs, inputs)
            self._outputs = _matched("output", manifest.outputs, outputs)
            self._input_set, self._input_handles = self._allocate(self._inputs)
            self._output_set, self._output_handles = self._allocate(self._outputs)
        except BaseException:
            self.close()
            raise

    def execute(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """See `Executable.execute`. Results that are not numbers are no error, as in PyTorch."""
        self._runtime.require_usable()
        if len(inputs) != len(self._inputs):
            raise ExecutionError(
                f"a compiled graph takes {len(self._inputs)} tensors and got {len(inputs)}"
            )
        with self._lock:
            if not self._model:
                raise ExecutionError("a compiled graph was called after it was unloaded")
            for tensor, kind, handle in zip(inputs, self._inputs, self._input_handles, strict=True):
                self._write(kind, handle, tensor)
            status = self._library.nrt_execute(self._model, self._input_set, self._output_set)
            if status not in {SUCCESS, COMPLETED_WITH_NAN}:
                raise NrtError("nrt_execute", status)
            return [
                self._read(kind, handle)
                for kind, handle in zip(self._outputs, self._output_handles, strict=True)
            ]

    def close(self) -> None:
        """Free device memory and unload the NEFF, in this order. Later calls do nothing."""
        # Asked first: in a forked child, who holds the lock does not exist.
        if not self._runtime.is_usable:
            return
        with self._lock:
            while self._sets:
                self._library.nrt_destroy_tensor_set(ctypes.byref(self._sets.pop()))
            while self._tensors:
                self._library.nrt_tensor_free(ctypes.byref(self._tensors.pop()))
            if self._model:
                model, self._model = self._model, Handle()
                check("nrt_unload", self._library.nrt_unload(model))

    def __del__(self) -> None:
        # An executable whose __init__ failed early has nothing to close.
        if hasattr(self, "_tensors"):
            self.close()

    def _load(self, neff: bytes) -> None:
        model = Handle()
        status = self._library.nrt_load(neff, len(neff), self._core, -1, ctypes.byref(model))
        check("nrt_load", status)
        self._model = model

    def _declared(self) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
        """The NEFF's inputs and outputs by name: `nrt_dtype_t` and size in bytes."""
        inputs: dict[str, tuple[int, int]] = {}
        outputs: dict[str, tuple[int, int]] = {}
        with self._tensor_info() as info:
            for entry in info.entries():
                usage = inputs if entry.usage == USAGE_INPUT else outputs
                usage[entry.name.decode()] = (entry.dtype, entry.size)
        return inputs, outputs

    @contextmanager
    def _tensor_info(self) -> Iterator[TensorInfoArray]:
        pointer = ctypes.POINTER(TensorInfoArray)()
        status = self._library.nrt_get_model_tensor_info(self._model, ctypes.byref(pointer))
        check("nrt_get_model_tensor_info", status)
        try:
            yield pointer.contents
        finally:
            self._library.nrt_free_model_tensor_info(pointer)

    def _allocate(self, kinds: Sequence[DeviceTensor]) -> tuple[Handle, list[Handle]]:
        """A tensor set with device memory for each of `kinds`, whose names stay alive with us."""
        tensor_set = Handle()
        status = self._library.nrt_allocate_tensor_set(ctypes.byref(tensor_set))
        check("nrt_allocate_tensor_set", status)
        self._sets.append(tensor_set)
        handles = []
        for kind in kinds:
            name, handle = kind.name.encode(), Handle()
            self._names.append(name)
            status = self._library.nrt_tensor_allocate(
                ON_DEVICE, self._core, kind.size_bytes, name, ctypes.byref(handle)
            )
            check("nrt_tensor_allocate", status)
            self._tensors.append(handle)
            status = self._library.nrt_add_tensor_to_tensor_set(tensor_set, name, handle)
            check("nrt_add_tensor_to_tensor_set", status)
            handles.append(handle)
        return tensor_set, handles

    def _write(self, kind: DeviceTensor, handle: Handle, tensor: torch.Tensor) -> None:
        ready = kind.to_device(tensor)
        status = self._library.nrt_tensor_write(handle, ready.data_ptr(), 0, kind.size_bytes)
        check("nrt_tensor_write", status)

    def _read(self, kind: DeviceTensor, handle: Handle) -> torch.Tensor:
        filled = kind.empty()
        status = self._library.nrt_tensor_read(handle, filled.data_ptr(), 0, kind.size_bytes)
        check("nrt_tensor_read", status)
        return kind.from_device(filled)


def _matched(
    usage: str, specs: Sequence[TensorSpec], declared: dict[str, tuple[int, int]]
) -> tuple[DeviceTensor, ...]:
    """The program's tensors as the NEFF declares them: `input0`, `input1`... and no others."""
    names = [f"{usage}{index}" for index in range(len(specs))]
    if set(names) != set(declared):
        raise ExecutionError(
            f"the {usage}s of a NEFF are not those of its program",
            where=(f"NEFF: {', '.join(sorted(declared))}", f"program: {', '.join(names)}"),
            hint="clear the cache and compile again.",
        )
    return tuple(
        device_tensor(name, spec, *declared[name]) for name, spec in zip(names, specs, strict=True)
    )
