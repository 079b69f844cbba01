"""How one tensor enters and leaves a program, decided once and applied at every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import torch

from neuron_compile.errors import ExecutionError
from neuron_compile.lowering import TensorSpec
from neuron_compile.lowering.layout import dense_strides, input_layout, physical_layout

Crossing = Callable[[torch.Tensor], torch.Tensor]

# Programs compute in the narrower type; the caller sees the wider one.
_NARROWER: Final = {torch.float64: torch.float32, torch.complex128: torch.complex64}


def entrance(spec: TensorSpec) -> Crossing:
    """The function that turns an argument into the program's dense row-major array.

    A tensor with the expected strides crosses without a copy. One with others, with gaps, lazily
    conjugated or of a wider type is copied first. Raises `ExecutionError` for another device,
    shape or dtype, which a guard of torch.compile should have caught.
    """
    shape, strides = torch.Size(spec.shape), spec.strides
    dtype = getattr(torch, spec.dtype)
    narrower = _NARROWER.get(dtype)
    layout = input_layout(spec)
    copy_strides = dense_strides(spec.shape) if layout is None else strides
    physical_shape = spec.shape if layout is None else layout.shape
    physical_strides = copy_strides if layout is None else layout.strides
    is_direct = physical_shape == spec.shape and physical_strides == strides

    def enter_copied(tensor: torch.Tensor) -> torch.Tensor:
        _check(tensor, spec, dtype)
        if _is_lazy(tensor) or not _addresses_alike(tensor, copy_strides):
            copied = torch.empty_strided(shape, copy_strides, dtype=dtype)
            copied.copy_(tensor)
            tensor = copied
        return tensor.as_strided(physical_shape, physical_strides)

    def enter_narrowed(tensor: torch.Tensor) -> torch.Tensor:
        return enter_copied(tensor).to(narrower)

    def enter(tensor: torch.Tensor) -> torch.Tensor:
        if (
            tensor.stride() == strides
            and tensor.shape == shape
            and tensor.dtype is dtype
            and tensor.is_cpu
            and not _is_lazy(tensor)
        ):
            return tensor if is_direct else tensor.as_strided(physical_shape, physical_strides)
        return enter_copied(tensor)

    if narrower is not None:
        return enter_narrowed
    return enter_copied if layout is None else enter


def exit_of(spec: TensorSpec) -> Crossing | None:
    """The function that gives a program's dense array the strides and dtype of the eager result.

    None if it has them: the array is the result.
    """
    wide = getattr(torch, spec.dtype)
    layout = physical_layout(spec)
    shape, strides = spec.shape, spec.strides

    def leave_with_gaps(array: torch.Tensor) -> torch.Tensor:
        result = torch.empty_strided(shape, strides, dtype=wide)
        result.copy_(array)
        return result

    def leave_strided(array: torch.Tensor) -> torch.Tensor:
        return array.as_strided(shape, strides)

    def leave_widened(array: torch.Tensor) -> torch.Tensor:
        return leave_strided(array.to(wide))

    if layout is None:
        return leave_with_gaps
    if wide in _NARROWER:
        return leave_widened
    return None if layout.is_identity and layout.shape == shape else leave_strided


def _check(tensor: torch.Tensor, spec: TensorSpec, dtype: torch.dtype) -> None:
    if not tensor.is_cpu:
        raise ExecutionError(
            f"a tensor on {tensor.device} was passed to a graph compiled for neuron",
            why="the host target computes on CPU tensors.",
            hint='move it with tensor.to("cpu"), or keep it out of the compiled region.',
        )
    if tuple(tensor.shape) != spec.shape or tensor.dtype is not dtype:
        raise ExecutionError(
            "an argument is not what the graph was compiled for",
            where=(f"{tensor.dtype} {tuple(tensor.shape)} instead of {dtype} {spec.shape}",),
        )


def _is_lazy(tensor: torch.Tensor) -> bool:
    """Whether memory holds the conjugate or the negative of the values."""
    return tensor.is_neg() or tensor.is_conj()


def _addresses_alike(tensor: torch.Tensor, strides: tuple[int, ...]) -> bool:
    """Whether the tensor's strides differ from `strides` only where a dimension has one element."""
    return all(
        size <= 1 or actual == expected
        for size, actual, expected in zip(tensor.shape, tensor.stride(), strides, strict=True)
    )
