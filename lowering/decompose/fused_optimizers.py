"""`_fused_adam` and its kin: an optimizer's step over lists of tensors, written out.

The in-place forms reach a graph as the functional ones below, which give the lists they change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import torch
from torch import Tensor
from torch._ops import OpOverload

_aten = torch.ops.aten

Lists = tuple[list[Tensor], ...]


def fused_adam(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    max_exp_avg_sqs: Sequence[Tensor],
    state_steps: Sequence[Tensor],
    **settings: Any,
) -> Lists:
    """Adam (https://arxiv.org/abs/1412.6980) with weight decay as part of the gradient."""
    lists = (params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
    return _adam(lists, state_steps, **settings, is_decoupled=False)


def fused_adamw(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    exp_avgs: Sequence[Tensor],
    exp_avg_sqs: Sequence[Tensor],
    max_exp_avg_sqs: Sequence[Tensor],
    state_steps: Sequence[Tensor],
    **settings: Any,
) -> Lists:
    """Adam with weight decay of its own (https://arxiv.org/abs/1711.05101)."""
    lists = (params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs)
    return _adam(lists, state_steps, **settings, is_decoupled=True)


def fused_sgd(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    momentum_buffers: Sequence[Tensor],
    *,
    weight_decay: float,
    momentum: float,
    lr: float | Tensor,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> Lists:
    """Gradient descent with momentum."""
    changed: Lists = ([], [], [])
    buffers: Sequence[Tensor | None] = momentum_buffers or [None] * len(params)
    for param, grad, buffer in zip(params, grads, buffers, strict=True):
        wide, unscaled = _wide(param), _unscaled(grad, grad_scale)
        step = -unscaled if maximize else unscaled
        if weight_decay:
            step = step + wide * weight_decay
        if buffer is not None:
            velocity = step
            if not is_first_step:
                velocity = _wide(buffer) * momentum + step * (1 - dampening)
            changed[2].append(_kept(velocity, buffer, found_inf))
            step = step + velocity * momentum if nesterov else velocity
        changed[0].append(_kept(wide - lr * step, param, found_inf))
        changed[1].append(_stored(unscaled, grad, grad_scale, found_inf))
    return changed


def fused_adagrad(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    state_sums: Sequence[Tensor],
    state_steps: Sequence[Tensor],
    *,
    lr: float | Tensor,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> Lists:
    """Adagrad (https://jmlr.org/papers/v12/duchi11a.html)."""
    changed: Lists = ([], [], [])
    for param, grad, total, count in zip(params, grads, state_sums, state_steps, strict=True):
        wide, unscaled = _wide(param), _unscaled(grad, grad_scale)
        step = -unscaled if maximize else unscaled
        if weight_decay:
            step = step + wide * weight_decay
        rate = lr / (1 + (count - 1) * lr_decay)
        squares = _wide(total) + step * step
        moved = wide - rate * step / (squares.sqrt() + eps)
        changed[0].append(_kept(moved, param, found_inf))
        changed[1].append(_stored(unscaled, grad, grad_scale, found_inf))
        changed[2].append(_kept(squares, total, found_inf))
    return (*changed, list(state_steps))


def fused_optimizer_decompositions() -> dict[OpOverload, Callable[..., Any]]:
    """The rules by overload."""
    return {
        getattr(operator, overload): rule
        for operator, rule in _RULES.items()
        for overload in ("default", "tensor_lr")
        if (operator, overload) not in _NOT_FUNCTIONAL
    }


def _adam(
    lists: Sequence[Sequence[Tensor]],
    state_steps: Sequence[Tensor],
    *,
    lr: float | Tensor,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    is_decoupled: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> Lists:
    changed: Lists = ([], [], [], [], [])
    for index, count in enumerate(state_steps):
        param, grad, mean, square = (tensors[index] for tensors in lists[:4])
        wide, unscaled = _wide(param), _unscaled(grad, grad_scale)
        step = -unscaled if maximize else unscaled
        if weight_decay and is_decoupled:
            wide = wide - lr * weight_decay * wide
        elif weight_decay:
            step = step + wide * weight_decay
        average = torch.lerp(_wide(mean), step, 1 - beta1)
        spread = _wide(square) * beta2 + step * step * (1 - beta2)
        largest = spread
        if amsgrad:
            largest = torch.maximum(_wide(lists[4][index]), spread)
            changed[4].append(_kept(largest, lists[4][index], found_inf))
        size = largest.sqrt() / _bias(beta2, count).sqrt() + eps
        moved = wide - lr / _bias(beta1, count) * average / size
        changed[0].append(_kept(moved, param, found_inf))
        changed[1].append(_stored(unscaled, grad, grad_scale, found_inf))
        changed[2].append(_kept(average, mean, found_inf))
        changed[3].append(_kept(spread, square, found_inf))
    return changed


def _bias(beta: float, count: Tensor) -> Tensor:
    """`1 - beta ** count`, without the loss of digits that beta near 1 would cause."""
    if beta == 0:
        return torch.ones_like(count)
    return -torch.expm1(count * math.log(beta))


def _wide(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.dtype.itemsize < 4 else tensor


def _unscaled(grad: Tensor, grad_scale: Tensor | None) -> Tensor:
    return _wide(grad) if grad_scale is None else _wide(grad) / grad_scale


def _stored(
    unscaled: Tensor, grad: Tensor, grad_scale: Tensor | None, found_inf: Tensor | None
) -> Tensor:
    return grad if grad_scale is None else _kept(unscaled, grad, found_inf)


def _kept(new: Tensor, old: Tensor, found_inf: Tensor | None) -> Tensor:
    """The new value, or the old one if the gradients overflowed."""
    new = new.to(old.dtype)
    return new if found_inf is None else torch.where(found_inf == 1, old, new)


_RULES: Final[dict[Any, Callable[..., Any]]] = {
    _aten._fused_adam: fused_adam,
    _aten._fused_adamw: fused_adamw,
    _aten._fused_sgd: fused_sgd,
    _aten._fused_adagrad: fused_adagrad,
}
# Its schema lacks one of the lists that it changes.
_NOT_FUNCTIONAL: Final = {(_aten._fused_adagrad, "tensor_lr")}
