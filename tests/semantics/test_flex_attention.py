"""`flex_attention` against attention that is written out, forward and backward."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

import neuron_compile
from parity import compiled, neuron_only

Mod = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]
Mask = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

# PyTorch has a gradient for accelerators only; this backend has it for the tensors it is given.
pytestmark = neuron_only


def written_out(
    query: Tensor, key: Tensor, value: Tensor, mod: Mod | None = None, mask: Mask | None = None
) -> tuple[Tensor, Tensor]:
    """The result, and the log of the sum of each row; rows that may look at nothing give zeros."""
    shared = query.shape[1] // key.shape[1]
    key, value = (
        t.repeat_interleave(shared, 1).expand(len(query), -1, -1, -1) for t in (key, value)
    )
    scores = query.float() @ key.float().transpose(-1, -2) / math.sqrt(query.shape[-1])
    places = torch.meshgrid(*(torch.arange(size) for size in scores.shape), indexing="ij")
    scores = scores if mod is None else mod(scores, *places)
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask(*places)
    log_sum = scores.masked_fill(~allowed, -math.inf).logsumexp(-1)
    weights = scores.masked_fill(~allowed, -1e30).softmax(-1) * allowed
    return weights.to(query.dtype) @ value, log_sum


def drawn(*shape: int, seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator).to(dtype).requires_grad_()


def heads(
    *, batch: int = 2, kv_batch: int = 2, count: int = 2, kv_count: int = 2, dtype: Any = None
) -> tuple[Tensor, Tensor, Tensor]:
    sizes = ((batch, count, 12), (kv_batch, kv_count, 20), (kv_batch, kv_count, 20))
    dtype = dtype or torch.float32
    q, k, v = (drawn(*size, 8, seed=seed, dtype=dtype) for seed, size in enumerate(sizes))
    return q, k, v


def blocks(mask: Mask, q_len: int = 12, kv_len: int = 20) -> BlockMask:
    return create_block_mask(mask, None, None, q_len, kv_len, device="cpu", BLOCK_SIZE=4)


def assert_same(
    actual: tuple[Tensor, ...], expected: tuple[Tensor, ...], given: tuple[Tensor, ...]
) -> None:
    """Results and gradients agree; rows of minus infinity take no part in the gradient."""
    torch.testing.assert_close(actual, expected)
    losses = [
        sum((r.masked_fill(r.isinf(), 0).float().square().sum() for r in results), torch.zeros(()))
        for results in (actual, expected)
    ]
    found, wanted = (torch.autograd.grad(loss, given) for loss in losses)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


BIAS = torch.linspace(-1, 1, 64).reshape(2, 32)

MODS: dict[str, Mod] = {
    "none": lambda score, b, h, i, j: score,
    "relative position": lambda score, b, h, i, j: score + (i - j),
    "bias by head": lambda score, b, h, i, j: score + BIAS[h, i - j],
    "soft cap": lambda score, b, h, i, j: torch.tanh(score / 2) * 2,
    "mask by value": lambda score, b, h, i, j: torch.where(i >= j, score, -math.inf),
}


@pytest.mark.parametrize("name", MODS)
def test_score_functions(name: str) -> None:
    mod = MODS[name]
    given = heads()
    result = compiled(lambda q, k, v: flex_attention(q, k, v, score_mod=mod))(*given)
    assert_same((result,), (written_out(*given, mod)[0],), given)


MASKS: dict[str, Mask] = {
    "causal": lambda b, h, i, j: i >= j,
    "window": lambda b, h, i, j: (i - j).abs() <= 3,
    "by batch and head": lambda b, h, i, j: i + 2 * b >= j + h,
    "rows that see nothing": lambda b, h, i, j: i > j + 3,
}


@pytest.mark.parametrize(
    "inside", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["given", "made inside"]
)
@pytest.mark.parametrize("name", MASKS)
def test_block_masks(name: str, inside: bool) -> None:
    mask = MASKS[name]
    given = heads()
    made = create_block_mask(mask, 2, 2, 12, 20, device="cpu", BLOCK_SIZE=4)

    def function(q: Tensor, k: Tensor, v: Tensor) -> Any:
        own = create_block_mask(mask, 2, 2, 12, 20, device="cpu", BLOCK_SIZE=4) if inside else made
        return flex_attention(q, k, v, block_mask=own, return_lse=True)

    assert_same(compiled(function)(*given), written_out(*given, mask=mask), given)


def test_score_function_without_a_derivative_where_it_is_masked() -> None:
    def mod(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + (i - j).float().sqrt()

    mask = MASKS["causal"]
    given = heads()
    made = blocks(mask)
    result = compiled(lambda q, k, v: flex_attention(q, k, v, score_mod=mod, block_mask=made))(
        *given
    )
    assert_same((result,), (written_out(*given, mod, mask)[0],), given)


@pytest.mark.parametrize(("kv_count", "kv_batch"), [(1, 2), (2, 1), (1, 1)])
def test_heads_and_batches_that_share_keys(kv_count: int, kv_batch: int) -> None:
    given = heads(kv_count=kv_count, kv_batch=kv_batch)
    # PyTorch wants a mask for each batch where the batches differ.
    made = create_block_mask(MASKS["causal"], 2, None, 12, 20, device="cpu")

    def function(q: Tensor, k: Tensor, v: Tensor) -> Any:
        return flex_attention(q, k, v, block_mask=made, enable_gqa=True)

    expected = written_out(*given, mask=MASKS["causal"])[0]
    assert_same((compiled(function)(*given),), (expected,), given)


def test_own_scale_and_a_query_in_another_memory_order() -> None:
    given = (drawn(2, 12, 2, 8, seed=5), *heads()[1:])

    def function(q: Tensor, k: Tensor, v: Tensor) -> Any:
        return flex_attention(q.transpose(1, 2), k, v, scale=1.0)

    def expected(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return written_out(q.transpose(1, 2) * math.sqrt(8), k, v)[0]

    result = compiled(function)(*given)
    assert result.stride() == torch.empty(2, 12, 2, 8).transpose(1, 2).stride()
    assert_same((result,), (expected(*given),), given)


def test_it_is_taken_apart_in_branches_too() -> None:
    mask = MASKS["causal"]
    made = blocks(mask)
    given = heads()

    def function(q: Tensor, k: Tensor, v: Tensor) -> Any:
        def attend(q: Tensor, k: Tensor, v: Tensor) -> Any:
            return flex_attention(q, k, v, score_mod=MODS["soft cap"], block_mask=made)

        return torch.cond(q.sum() < 1e9, attend, flex_attention, (q, k, v))

    expected = written_out(*given, MODS["soft cap"], mask)[0]
    assert_same((compiled(function)(*given),), (expected,), given)


def test_half_precision_is_rounded_as_in_eager() -> None:
    given = tuple(t.detach() for t in heads(dtype=torch.bfloat16))
    made = blocks(MASKS["causal"])

    def function(q: Tensor, k: Tensor, v: Tensor) -> Any:
        return flex_attention(q, k, v, block_mask=made)

    eager = torch.compile(function, backend="eager", fullgraph=True)(*given)
    torch.testing.assert_close(compiled(function)(*given), eager)


class Attention(nn.Module):
    """Causal self-attention with a learned bias of relative positions."""

    def __init__(self, attend: Callable[..., Tensor]) -> None:
        super().__init__()
        self.project, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.bias = nn.Parameter(torch.zeros(2, 12))
        self.attend = attend

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (2, 4)).transpose(1, 2) for t in self.project(x).chunk(3, -1))
        bias = self.bias

        def mod(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
            return score + bias[h, (i - j).abs()]

        y: Tensor = self.out(self.attend(q, k, v, mod).transpose(1, 2).flatten(2))
        return y


def test_it_trains_with_the_bias_that_it_captures() -> None:
    made = blocks(MASKS["causal"], 12, 12)

    def flex(q: Tensor, k: Tensor, v: Tensor, mod: Mod) -> Any:
        return flex_attention(q, k, v, score_mod=mod, block_mask=made)

    def plain(q: Tensor, k: Tensor, v: Tensor, mod: Mod) -> Tensor:
        return written_out(q, k, v, mod, MASKS["causal"])[0]

    torch.manual_seed(0)
    ours, reference = Attention(flex), Attention(plain)
    reference.load_state_dict(copy.deepcopy(ours.state_dict()))
    function = compiled(ours)
    x, target = drawn(3, 12, 8, seed=1).detach(), drawn(3, 12, 8, seed=2).detach()
    optimizers = [torch.optim.AdamW(m.parameters(), lr=0.05) for m in (ours, reference)]
    for _ in range(5):
        losses = [(model(x) - target).square().mean() for model in (function, reference)]
        torch.testing.assert_close(losses[0], losses[1], rtol=1e-4, atol=1e-5)
        for loss, optimizer in zip(losses, optimizers, strict=True):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert ours.bias.detach().abs().sum() > 0


def test_eager_and_other_backends_still_say_that_they_have_no_gradient() -> None:
    given = heads()
    with pytest.raises(NotImplementedError, match="does not support backward on CPU"):
        flex_attention(*given)
    with pytest.raises(Exception, match="does not support backward on CPU"):
        torch.compile(flex_attention, backend="eager", fullgraph=True)(*given)


def test_it_is_explained() -> None:
    found = neuron_compile.explain(lambda q, k, v: flex_attention(q, k, v), *heads())
    assert found.is_ok
    assert [graph.role for graph in found.graphs] == ["forward", "backward"]
