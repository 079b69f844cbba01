"""A program's arguments on their way in: what is the same at every call is found out once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._C._dynamo.guards import TensorGuards

from neuron_compile.lowering import TensorSpec
from neuron_compile.runtime.boundary import entrance


class Arguments:
    """Turns a call's tensors into the program's arrays, by the `entrance` of each.

    If all tensors of the first call cross without a copy, later calls only ask Dynamo's own check,
    one native call for all tensors, whether type, layout and dispatch keys are those of the first;
    a call for which they are not goes the long way.
    """

    def __init__(self, specs: Sequence[TensorSpec]) -> None:
        self._entrances = tuple(map(entrance, specs))
        self._is_first = True
        self._seen: TensorGuards | None = None
        # Position, shape and strides of each argument that enters as a view of itself.
        self._views: tuple[tuple[int, torch.Size, tuple[int, ...]], ...] = ()

    def enter(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """One array for each of `tensors`, which is not changed. Raises `ExecutionError` for what
        the program was not compiled for."""
        if self._seen is not None and self._seen.check(*tensors):
            return self._enter_as_seen(tensors)
        entered = [enter(tensor) for enter, tensor in zip(self._entrances, tensors, strict=True)]
        if self._is_first:
            self._is_first = False
            if all(map(_crossed_freely, tensors, entered)):
                self._remember(tensors, entered)
        return entered

    def _enter_as_seen(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        if not self._views:
            return tensors
        entered = list(tensors)
        for position, shape, strides in self._views:
            entered[position] = tensors[position].as_strided(shape, strides)
        return entered

    def _remember(self, tensors: list[torch.Tensor], entered: list[torch.Tensor]) -> None:
        self._views = tuple(
            (position, array.shape, array.stride())
            for position, (tensor, array) in enumerate(zip(tensors, entered, strict=True))
            if array is not tensor
        )
        # One list for each tensor, which torch's type stubs do not know.
        sizes: Any = [list(tensor.shape) for tensor in tensors]
        strides: Any = [list(tensor.stride()) for tensor in tensors]
        self._seen = TensorGuards(*tensors, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides)


def _crossed_freely(tensor: torch.Tensor, array: torch.Tensor) -> bool:
    """Whether an argument is the program's array in its own memory."""
    return array.dtype == tensor.dtype and (
        array is tensor or array.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr()
    )
