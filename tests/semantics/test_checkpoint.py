"""Activation checkpointing: recomputation gives the same numbers, random ones included."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from parity import check_parity, compiled

# Dynamo itself reads `.grad` of a non-leaf argument.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")

REENTRANT = pytest.mark.parametrize("reentrant", [False, True], ids=["saved_hooks", "reentrant"])


class Checkpointed(nn.Module):
    """Two blocks, the second recomputed in backward."""

    def __init__(self, reentrant: bool, rate: float = 0.0) -> None:
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.second = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Dropout(rate), nn.Linear(6, 6))
        self.reentrant = reentrant

    def forward(self, x: Tensor) -> Any:
        return checkpoint(self.second, self.first(x).relu(), use_reentrant=self.reentrant)


@REENTRANT
def test_checkpoint_inside_the_compiled_module(reentrant: bool) -> None:
    check_parity(Checkpointed(reentrant), torch.randn(3, 6, requires_grad=True), grad=True)


@REENTRANT
def test_compiled_block_inside_an_eager_checkpoint(reentrant: bool) -> None:
    block = nn.Sequential(nn.Linear(4, 4), nn.Tanh())
    x = torch.randn(2, 4, requires_grad=True)
    y = torch.randn(2, 4).copy_(x.detach()).requires_grad_()
    checkpoint(compiled(block), x, use_reentrant=reentrant).sum().backward()
    expected = [p.grad for p in block.parameters()]
    block.zero_grad()
    block(y).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
    torch.testing.assert_close(expected, [p.grad for p in block.parameters()])


@REENTRANT
def test_recomputed_dropout_uses_the_mask_of_the_forward(reentrant: bool) -> None:
    """Output and gradient of a dropped-out identity show the same zeros."""

    def use(x: Tensor) -> Any:
        return checkpoint(lambda t: F.dropout(t, 0.5) * t.detach(), x, use_reentrant=reentrant)

    x = torch.ones(256, requires_grad=True)
    y = compiled(use)(x)
    y.sum().backward()
    assert 64 < (y == 0).sum() < 192
    torch.testing.assert_close(x.grad, y.detach())


@REENTRANT
def test_recomputed_dropout_in_an_eager_checkpoint(reentrant: bool) -> None:
    function = compiled(lambda t: F.dropout(t, 0.5) * t.detach())
    x = torch.ones(256, requires_grad=True)
    y = checkpoint(function, x, use_reentrant=reentrant)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_sequential_checkpoints() -> None:
    class Deep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.Sequential(
                *(nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in "abcd")
            )

        def forward(self, x: Tensor) -> Any:
            return checkpoint_sequential(self.layers, 2, x, use_reentrant=False)

    check_parity(Deep(), torch.randn(2, 4, requires_grad=True), grad=True)


def test_checkpoint_with_batch_norm_and_several_results() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def body(self, x: Tensor, scale: float) -> tuple[Tensor, Tensor, None]:
            y = self.layer(x).sigmoid() * scale
            return y, y.sum(), None

        def forward(self, x: Tensor) -> Any:
            return checkpoint(self.body, x, 2.0, use_reentrant=False)

    check_parity(Block(), torch.randn(2, 3, requires_grad=True), grad=True)


def test_memory_budget_that_recomputes_changes_no_number() -> None:
    module = nn.Sequential(*(nn.Sequential(nn.Linear(4, 4), nn.GELU()) for _ in range(3)))
    with torch._functorch.config.patch(activation_memory_budget=0.1):
        check_parity(module, torch.randn(2, 4, requires_grad=True), grad=True, bound=1e-5)
