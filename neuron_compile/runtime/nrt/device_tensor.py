"""One input or output of a loaded NEFF: its type there, and its bytes to and from PyTorch.

A device may have a narrower type than the program: 64-bit integers that the compiler computes in
32 bits, float64 that runs as float32. Taking the bytes of one for the other would turn every pair
of numbers into one, so the type that the NEFF declares decides, and values that do not fit are an
error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_compile.errors import ExecutionError
from neuron_compile.lowering.dtypes import ELEMENT_TYPES

if TYPE_CHECKING:
    import torch

    from neuron_compile.lowering import TensorSpec

# `nrt_dtype_t` codes by the program's element type: the type as it crosses, for each that may.
_CROSSINGS: Final[dict[str, dict[int, str]]] = {
    "bool": {0x3: "bool", 0x2: "bool"},
    "uint8": {0x3: "uint8"},
    "uint16": {0x5: "uint16"},
    "uint32": {0x9: "uint32"},
    "uint64": {0x1: "uint64", 0x9: "uint32"},
    "int8": {0x2: "int8"},
    "int16": {0x4: "int16"},
    "int32": {0x8: "int32"},
    "int64": {0xC: "int64", 0x8: "int32"},
    "float16": {0x7: "float16"},
    "bfloat16": {0x6: "bfloat16"},
    "float32": {0xA: "float32", 0xB: "float32"},
    "float64": {0xA: "float32", 0xB: "float32"},
    "float8_e5m2": {0xF: "float8_e5m2"},
    "float8_e4m3fn": {0xE: "float8_e4m3fn"},
}
_UNKNOWN: Final = 0


@dataclass(frozen=True, slots=True)
class DeviceTensor:
    """`device_dtype` is the element type in the NEFF, `size_bytes` its size there."""

    name: str
    spec: TensorSpec
    device_dtype: str
    size_bytes: int

    def to_device(self, tensor: torch.Tensor) -> torch.Tensor:
        """A dense tensor whose memory has the bytes for the device; `tensor` itself if it has.

        Raises `ExecutionError` if a value does not fit the device's type.
        """
        import torch

        tensor = tensor.contiguous()
        if self.device_dtype == self.spec.dtype:
            return tensor
        narrow = tensor.to(getattr(torch, self.device_dtype))
        if not tensor.is_floating_point() and not torch.equal(narrow.to(tensor.dtype), tensor):
            raise ExecutionError(
                f"{self.name} of a compiled graph has values that do not fit the device",
                why=f"the NEFF computes {self.spec.dtype} in {self.device_dtype}.",
                hint="use smaller numbers, or compile for trn2 or later with "
                "NEURON_CC_FLAGS=--native-int64=enabled.",
            )
        return narrow

    def empty(self) -> torch.Tensor:
        """Fresh dense memory for the device to fill."""
        import torch

        return torch.empty(self.spec.shape, dtype=getattr(torch, self.device_dtype))

    def from_device(self, filled: torch.Tensor) -> torch.Tensor:
        """What `empty` gave and the device filled, in the program's element type."""
        import torch

        return filled.to(getattr(torch, self.spec.dtype))


def device_tensor(name: str, spec: TensorSpec, dtype: int, size_bytes: int) -> DeviceTensor:
    """The tensor `name` as the NEFF declares it: `nrt_dtype_t` and size in bytes.

    Raises `ExecutionError` if that cannot hold the program's tensor.
    """
    crossings = _CROSSINGS.get(spec.dtype, {})
    crossing = spec.dtype if dtype == _UNKNOWN else crossings.get(dtype)
    if crossing is not None:
        tensor = DeviceTensor(name, spec, crossing, size_bytes)
        if spec.element_count * ELEMENT_TYPES[crossing].itemsize == size_bytes:
            return tensor
    raise ExecutionError(
        f"{name} of a NEFF is not what its program says",
        where=(f"type {dtype:#x} and {size_bytes} bytes, for {spec.dtype} {spec.shape}",),
        why="the NEFF and its manifest do not belong together, or the compiler changed the type "
        "in a way that is not known.",
        hint="clear the cache and compile again.",
    )
