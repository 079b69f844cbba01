"""`flex_attention` as the products, the softmax and the pointwise functions that it is.

PyTorch keeps the operator whole, with the user's functions of one score as graphs beside it, and
differentiates it by a second operator of its kind. Here the functions are mapped over all scores,
and autograd sees what they do. A block mask only tells which blocks may be skipped: it is its
function of positions that counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch._C import DispatchKey
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch._higher_order_ops.flex_attention import flex_attention
from torch.nn.attention.flex_attention import _vmap_for_bhqkv


@contextmanager
def flex_attention_as_products() -> Iterator[None]:
    """While it lasts, autograd takes `flex_attention` apart."""
    rule = flex_attention.py_kernels[DispatchKey.Autograd]
    _set_rule(attention)
    try:
        yield
    finally:
        _set_rule(rule)


def _set_rule(rule: Callable[..., Any]) -> None:
    flex_attention.py_kernels[DispatchKey.Autograd] = rule
    flex_attention._dispatch_cache.clear()


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor],
    block_mask: tuple[Any, ...],
    scale: float,
    _kernel_options: Mapping[str, Any],
    score_mod_other_buffers: tuple[Tensor, ...] = (),
    mask_mod_other_buffers: tuple[Tensor, ...] = (),
) -> tuple[Tensor, Tensor, Tensor]:
    """The result `[B, H, M, E]`, and of each row the log of the sum and the greatest of its scores,
    both to the base 2. Rows that may look at nothing give zeros, as in eager.

    Scores are float32, or float64 for float64 queries.
    """
    exact = torch.float64 if query.dtype == torch.float64 else torch.float32
    key, value = (_for_each_head(tensor, query) for tensor in (key, value))
    scores = (query.to(exact) @ key.to(exact).transpose(-2, -1)) * scale
    places = [torch.arange(size, device=scores.device) for size in scores.shape]
    score_of = _vmap_for_bhqkv(score_mod, prefix=(0,), suffix=_shared(score_mod_other_buffers))
    may_look = _vmap_for_bhqkv(block_mask[-1], prefix=(), suffix=_shared(mask_mod_other_buffers))
    # Captured tensors are indexed by tensors without a value here.
    with TransformGetItemToIndex():
        allowed = may_look(*places, *mask_mod_other_buffers)
        # What is masked is not looked at: where a function of it has no derivative, none is taken.
        seen = torch.where(allowed, scores, 0)
        changed = score_of(seen, *places, *score_mod_other_buffers).to(exact)
    changed = torch.where(allowed, changed, -math.inf)
    is_empty = (changed == -math.inf).all(-1, keepdim=True)
    finite = torch.where(is_empty, 0, changed)
    log_sum = torch.where(is_empty[..., 0], -math.inf, finite.logsumexp(-1))
    weights = torch.where(is_empty, 0, finite.softmax(-1)).to(query.dtype)
    result = _in_memory_order_of(query, weights @ value.to(query.dtype))
    greatest = changed.detach().amax(-1)
    return result, log_sum / math.log(2), greatest / math.log(2)


def zeros_and_scatter(shape: Sequence[int], indices: Sequence[Tensor], vals: Tensor) -> Tensor:
    """`flex_lib.zeros_and_scatter`, the gradient of a captured tensor that is indexed."""
    zeros = vals.new_zeros(tuple(shape))
    return torch.index_put(zeros, tuple(indices), vals, accumulate=True)


def _for_each_head(tensor: Tensor, query: Tensor) -> Tensor:
    """Keys or values for each head of the queries, which may share them, in each batch."""
    batch, heads = query.shape[:2]
    shared = heads // tensor.shape[1]
    own = tensor.unsqueeze(2).expand(-1, -1, shared, -1, -1).flatten(1, 2)
    return own.expand(batch, -1, -1, -1)


def _in_memory_order_of(query: Tensor, result: Tensor) -> Tensor:
    """The result with its dimensions laid out in memory as the query's are, the last innermost."""
    strides = query.stride()
    order = [*sorted(range(query.ndim - 1), key=lambda dim: -strides[dim]), query.ndim - 1]
    inverse = [order.index(dim) for dim in range(query.ndim)]
    return result.permute(order).contiguous().permute(inverse)


def _shared(buffers: tuple[Tensor, ...]) -> tuple[None, ...]:
    return (None,) * len(buffers)
