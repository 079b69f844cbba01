"""PyTorch's tensors as PJRT buffers, without a copy where XLA accepts their alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._C import _to_dlpack
from torch.nn import Parameter


class LentBuffers:
    """Lends the inputs of one executable to XLA.

    A parameter's buffer is kept for the next call and used again while the parameter's memory is
    the same: it is the memory that is lent, so that updates in place are seen. What XLA had to copy
    is not kept. A kept buffer keeps the memory, not the parameter, alive until the executable is freed
    or the parameter gets other memory.
    """

    def __init__(self, device: Any) -> None:
        from jaxlib import _jax

        self._device = device
        self._import = _jax.dlpack_managed_tensor_to_buffer
        self._kept: dict[int, tuple[int, Any]] = {}

    def lend(self, inputs: Sequence[torch.Tensor]) -> list[Any]:
        """One buffer for each input, which must be dense and row-major."""
        return [
            self._keep(position, tensor)
            if type(tensor) is Parameter
            else self._import(_to_dlpack(tensor), self._device, None)
            for position, tensor in enumerate(inputs)
        ]

    def _keep(self, position: int, parameter: torch.Tensor) -> Any:
        address = parameter.data_ptr()
        kept = self._kept.get(position)
        if kept is not None and kept[0] == address:
            return kept[1]
        # Detached: a capsule of the parameter itself would keep its gradient alive too.
        buffer = self._import(_to_dlpack(parameter.detach()), self._device, None)
        if address and buffer.unsafe_buffer_pointer() == address:
            self._kept[position] = (address, buffer)
        return buffer
