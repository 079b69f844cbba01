"""The gradient of `while_loop`, in memory whose size is known before the loop runs.

PyTorch's own rule keeps what is carried at every step, in tensors whose length is the number of
steps. A program has no such tensors. Here the forward pass counts its steps; the backward pass runs
them again, keeping what is carried before some of them, evenly spread, and from there computes what
was carried at each step, the last step first. As in checkpointing, memory is paid for with time:
with S steps and C places, S^2 / 2C more steps where S > C. Loops of at most C steps are run once
more, and nothing is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._higher_order_ops.utils import create_bw_fn, materialize_as_graph
from torch._higher_order_ops.while_loop import while_loop_op
from torch.autograd.function import once_differentiable

Function = Callable[..., Any]

# Its annotation is of tuples of one element.
_while_loop: Final[Any] = while_loop_op

_MOST_PLACES: Final = 128
# All places together take no more, if that is enough for one.
_MOST_BYTES: Final = 1 << 28


@contextmanager
def while_loop_gradient() -> Iterator[None]:
    """While it lasts, autograd differentiates `while_loop` by the rule of this module."""
    rule = while_loop_op.py_kernels[DispatchKey.Autograd]
    _set_rule(_differentiable_loop)
    try:
        yield
    finally:
        _set_rule(rule)


def _set_rule(rule: Function) -> None:
    while_loop_op.py_kernels[DispatchKey.Autograd] = rule
    while_loop_op._dispatch_cache.clear()


def _differentiable_loop(
    cond_fn: Function,
    body_fn: Function,
    carried_inputs: Sequence[Any],
    additional_inputs: Sequence[Any],
    **settings: Any,
) -> Any:
    operands = (*carried_inputs, *additional_inputs)
    needs = any(isinstance(o, Tensor) and o.requires_grad for o in operands)
    if not torch.is_grad_enabled() or not needs:
        with torch._C._AutoDispatchBelowAutograd():
            return _while_loop(cond_fn, body_fn, carried_inputs, additional_inputs, **settings)
    return _Loop.apply(cond_fn, body_fn, len(carried_inputs), *operands)  # type: ignore[no-untyped-call]


class _Loop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, cond_fn: Function, body_fn: Function, count: int, *operands: Any) -> Any:
        carried, others = operands[:count], operands[count:]

        def counted_cond(_steps: Tensor, *values: Any) -> Any:
            return cond_fn(*values)

        def counted_body(steps: Tensor, *values: Any) -> Any:
            return (steps + 1, *body_fn(*values))

        start = torch.zeros((), dtype=torch.int64)
        with torch._C._AutoDispatchBelowAutograd():
            steps, *results = _while_loop(counted_cond, counted_body, (start, *carried), others)
        ctx.body_fn, ctx.carried, ctx.others, ctx.steps = body_fn, carried, others, steps
        ctx.keys = (
            torch._C._dispatch_tls_local_include_set(),
            torch._C._dispatch_tls_local_exclude_set(),
        )
        ctx.mark_non_differentiable(*(r for r in results if not _is_differentiable(r)))
        return tuple(results)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *cotangents: Any) -> Any:
        replay = _Replay(ctx.body_fn, ctx.carried, ctx.others, ctx.steps)
        found = iter(replay.gradients(cotangents, ctx.keys))
        gradients = [
            next(found) if _is_differentiable(operand) else None
            for operand in (*ctx.carried, *ctx.others)
        ]
        return (None, None, None, *gradients)


class _Replay:
    """A loop of `steps` steps, run again."""

    def __init__(
        self, body: Function, carried: Sequence[Tensor], others: Sequence[Any], steps: Tensor
    ) -> None:
        self.body, self.carried, self.others, self.steps = body, carried, others, steps
        each = sum(tensor.numel() * tensor.element_size() for tensor in carried)
        self.places = max(1, min(_MOST_PLACES, _MOST_BYTES // max(each, 1)))
        # A place for every `stride`-th step.
        self.stride = (steps + (self.places - 1)) // self.places

    def gradients(self, cotangents: Sequence[Tensor], keys: Any) -> list[Tensor]:
        """Those of what is carried and of the other operands, as far as they are differentiable."""
        width = len(self.carried)
        include, exclude = keys
        kept = self._kept()
        step_back = create_bw_fn(self.body, (*self.carried, *self.others))
        differentiable = [_is_differentiable(o) for o in (*self.carried, *self.others)]
        entering = [
            cotangent.clone(memory_format=torch.contiguous_format)
            for cotangent, carried in zip(cotangents, self.carried, strict=True)
            if _is_differentiable(carried)
        ]
        sums = [torch.zeros_like(other) for other in self.others if _is_differentiable(other)]

        def cond(left: Tensor, *_: Any) -> Tensor:
            return left > 0

        def body(left: Tensor, *values: Any) -> tuple[Tensor, ...]:
            flowing, values = values[: len(entering)], values[len(entering) :]
            totals, values = values[: len(sums)], values[len(sums) :]
            kept, (stride, *others) = values[:width], values[width:]
            before = self._carried_at(left - 1, kept, stride, others)
            found = step_back(*before, *others, *flowing)
            wanted = [g for g, is_wanted in zip(found, differentiable, strict=True) if is_wanted]
            added = [t + g for t, g in zip(totals, wanted[len(entering) :], strict=True)]
            return (left - 1, *wanted[: len(entering)], *added)

        state = (self.steps.clone(), *entering, *sums)
        fixed = (*kept, self.stride, *self.others)
        graphs = [
            materialize_as_graph(
                function, (*state, *fixed), include, exclude, force_enable_grad=True
            )
            for function in (cond, body)
        ]
        return list(_while_loop(*graphs, state, fixed))[1:]

    def _kept(self) -> list[Tensor]:
        """What is carried before steps 0, `stride`, 2 `stride` and so on, stacked."""
        width = len(self.carried)
        stacks = [tensor.new_zeros((self.places + 1, *tensor.shape)) for tensor in self.carried]

        def cond(step: Tensor, *values: Any) -> Any:
            return step < values[2 * width]

        def body(step: Tensor, *values: Any) -> tuple[Any, ...]:
            carried, stacks = values[:width], values[width : 2 * width]
            _, stride, *others = values[2 * width :]
            # What is not kept goes to a place beyond the others.
            place = torch.where(step % stride == 0, step // stride, self.places).reshape(1)
            written = [
                stack.index_copy(0, place, tensor.unsqueeze(0))
                for stack, tensor in zip(stacks, carried, strict=True)
            ]
            return (step + 1, *self.body(*carried, *others), *written)

        state = (torch.zeros_like(self.steps), *(t.clone() for t in self.carried), *stacks)
        fixed = (self.steps, self.stride, *self.others)
        return list(_while_loop(cond, body, state, fixed))[1 + width :]

    def _carried_at(
        self, step: Tensor, kept: Sequence[Tensor], stride: Tensor, others: Sequence[Any]
    ) -> list[Tensor]:
        """What is carried before a step, from what has been kept before it."""
        place = step // stride
        nearest = [
            stack.index_select(0, place.reshape(1)).reshape(stack.shape[1:]) for stack in kept
        ]

        def cond(left: Tensor, *_: Any) -> Tensor:
            return left > 0

        def body(left: Tensor, *values: Any) -> tuple[Any, ...]:
            return (left - 1, *self.body(*values))

        with torch.no_grad():
            state = (step - place * stride, *nearest)
            found = list(_while_loop(cond, body, state, tuple(others)))[1:]
        # A gradient flows through what was not differentiable at the start.
        return [tensor.requires_grad_(_is_differentiable(tensor)) for tensor in found]


def _is_differentiable(value: Any) -> bool:
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())
