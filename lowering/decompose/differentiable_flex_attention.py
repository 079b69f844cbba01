"""`flex_attention` that can be differentiated where PyTorch declines: on tensors in CPU memory.

PyTorch's own kernels for the CPU have no gradient, and it says so before anything is traced. This
backend takes the operator apart, gradient and all.
"""

from __future__ import annotations

import functools

import torch
import torch.nn.attention.flex_attention as flex
from torch import Tensor

from neuron_compile.lowering.decompose.known_sizes import is_traced_for_us

_validate_device = flex._validate_device


def register_differentiable_flex_attention() -> None:
    """Let graphs for this backend through, and no others. Repeating it does nothing."""
    flex._validate_device = _validate


@functools.wraps(_validate_device)
def _validate(query: Tensor, key: Tensor, value: Tensor) -> None:
    if not _is_ours():
        _validate_device(query, key, value)


# Dynamo calls it while it traces, and does not trace it.
@torch._dynamo.assume_constant_result  # type: ignore[untyped-decorator]
def _is_ours() -> bool:
    return is_traced_for_us()
