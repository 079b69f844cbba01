"""PyTorch's tensors as PJRT buffers, without a copy where XLA accepts their alignment."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._C import _to_dlpack
from torch.nn import Parameter

_address_of = torch.Tensor.data_ptr


@dataclass(frozen=True, slots=True)
class _Kept:
    """Buffers of an earlier call: `buffers` has one for each input, None for those that are not
    kept (`others`); `positions` are the kept ones, which lie at `addresses`. `owners` call back
    when one of the parameters dies."""

    positions: tuple[int, ...]
    addresses: list[int]
    others: tuple[int, ...]
    buffers: list[Any]
    owners: list[weakref.ref[torch.Tensor]]

    def still_has(self, position: int, tensor: torch.Tensor) -> bool:
        """Whether a kept buffer is an input's memory."""
        buffer = self.buffers[position]
        return buffer is not None and _is_lent(tensor, buffer)


class LentBuffers:
    """Lends the inputs of one executable to XLA. Thread-safe.

    A parameter's buffer is kept for the next call and used again while the parameter's memory is
    the same: it is the memory that is lent, so that updates in place are seen. What XLA had to copy
    is not kept. A kept buffer keeps the memory, not the parameter, alive: until the executable is
    freed, the parameter gets other memory, or one of the kept parameters is freed.
    """

    def __init__(self, device: Any) -> None:
        from jaxlib import _jax

        self._device = device
        self._import = _jax.dlpack_managed_tensor_to_buffer
        self._kept: _Kept | None = None
        us = weakref.ref(self)

        def forget(_owner: weakref.ref[torch.Tensor]) -> None:
            lent = us()
            if lent is not None:
                lent._kept = None

        self._forget = forget

    def lend(self, inputs: Sequence[torch.Tensor]) -> list[Any]:
        """One buffer for each input, which must be dense and row-major."""
        kept = self._kept
        # An address says all: what has it is the kept memory, in the one shape that this input has.
        if kept and kept.addresses == list(
            map(_address_of, map(inputs.__getitem__, kept.positions))
        ):
            buffers = kept.buffers.copy()
            for position in kept.others:
                buffers[position] = self._lend(inputs[position])
            return buffers
        return self._lend_anew(inputs, kept)

    def _lend_anew(self, inputs: Sequence[torch.Tensor], kept: _Kept | None) -> list[Any]:
        """What did not move is lent as before, and what is lent for good is found out again."""
        buffers = [
            kept.buffers[position]
            if kept and kept.still_has(position, tensor)
            else self._lend(tensor)
            for position, tensor in enumerate(inputs)
        ]
        lasting = {
            position: tensor.data_ptr()
            for position, tensor in enumerate(inputs)
            if type(tensor) is Parameter and _is_lent(tensor, buffers[position])
        }
        self._kept = _Kept(
            tuple(lasting),
            list(lasting.values()),
            tuple(position for position in range(len(inputs)) if position not in lasting),
            [buffer if position in lasting else None for position, buffer in enumerate(buffers)],
            [weakref.ref(inputs[position], self._forget) for position in lasting],
        )
        return buffers

    def _lend(self, tensor: torch.Tensor) -> Any:
        # Detached: a capsule of a parameter itself would keep its gradient alive too.
        lent = tensor.detach() if type(tensor) is Parameter else tensor
        return self._import(_to_dlpack(lent), self._device, None)


def _is_lent(tensor: torch.Tensor, buffer: Any) -> bool:
    """Whether a buffer is the tensor's memory, not a copy of it; of an empty one there is none."""
    address = tensor.data_ptr()
    return bool(address) and buffer.unsafe_buffer_pointer() == address
