"""Sizes of results that PyTorch takes for data-dependent though a bound is known while tracing.

The forward variables of `_ctc_loss` have room for the longest target. Only its gradient reads them,
so that more room than one needs does no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor
from torch._subclasses.fake_impls import op_implementations_dict, register_op_impl
from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensorMode

_aten = torch.ops.aten

# As `torch.compile` finds the backend: by a name of its entry point, or as the function.
_OWN_NAMES: Final = ("neuron", "neuron_compile")


def register_known_sizes() -> None:
    """Tell PyTorch's fake tensors. Repeating it does nothing.

    Dynamo is told for this backend alone: another one may depend on the exact size, or on getting
    no such graph at all.
    """
    for operator in (_aten._ctc_loss.default, _aten._ctc_loss.Tensor):
        if operator not in op_implementations_dict:
            register_op_impl(operator)(_ctc_loss)


def _ctc_loss(
    _mode: FakeTensorMode,
    operator: torch._ops.OpOverload,
    log_probs: Tensor,
    targets: Tensor,
    _input_lengths: Sequence[int] | Tensor,
    target_lengths: Sequence[int] | Tensor,
    *_: int,
) -> tuple[Tensor, Tensor]:
    times, count = log_probs.shape[:2]
    if isinstance(target_lengths, Tensor):
        longest = targets.shape[-1]
        is_known = _dynamos_backend() in (None, *_OWN_NAMES)
    else:
        longest = max(target_lengths, default=0)
        # The mean over such lengths makes a tensor of them, at which Dynamo gives up.
        is_known = _dynamos_backend() is None
    if not is_known:
        raise DynamicOutputShapeException(operator)
    return log_probs.new_empty(count), log_probs.new_empty(count, times, 2 * longest + 1)


def is_traced_for_us() -> bool:
    """Whether Dynamo is tracing, for this backend."""
    return _dynamos_backend() in _OWN_NAMES


def _dynamos_backend() -> str | None:
    """The name of the backend for which Dynamo traces; None outside Dynamo."""
    from torch._dynamo.symbolic_convert import InstructionTranslator

    # Neither a value nor an attribute where Dynamo has not run in this thread.
    try:
        tracer = InstructionTranslator.current_tx()
    except AttributeError:
        tracer = None
    return None if tracer is None else getattr(tracer.output.compiler_fn, "_compiler_name", "")
