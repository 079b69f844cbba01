"""What a custom call says of the convolution that it stands for."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

CONVOLUTION: Final = "neuron_compile.convolution"

Role = Literal["result", "data", "kernel"]


@dataclass(frozen=True, slots=True)
class HostConvolution:
    """One of the three arrays of a convolution, from the two others.

    `role` says which one is computed: the result, or the gradient of the data or of the kernel from
    that of the result. The operands are data and kernel, result and kernel, data and result.
    Each `*_order` is the order of dimensions that brings an array into the form of
    `torch.nn.functional.conv2d`: batch, channels, space for data and result, output channels, input
    channels of a group, space for the kernel. The kernel that a gradient of the data is computed
    from has its groups in the other dimension: all input channels, output channels of a group. The
    kernel of a gradient is read, or written, backwards in space if `is_reversed`.
    """

    role: Role
    data_order: tuple[int, ...]
    kernel_order: tuple[int, ...]
    result_order: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    is_reversed: bool = False

    def to_json(self) -> str:
        """The text that stands in a program."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> HostConvolution:
        """The reverse of `to_json`. Raises `ValueError`, `TypeError` or `KeyError` otherwise."""
        values = json.loads(text)
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        return cls(**fields)
