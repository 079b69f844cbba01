"""Mixed precision: `torch.autocast` around the call, inside it, and switched off again."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parity import check_parity, compiled

HALVES = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bf16", "f16"])


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 4))


@HALVES
def test_autocast_around_the_call(dtype: torch.dtype) -> None:
    with torch.autocast("cpu", dtype=dtype):
        check_parity(network(), torch.randn(4, 8), grad=True, bound=2e-2)


@HALVES
def test_autocast_inside_the_function(dtype: torch.dtype) -> None:
    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            with torch.autocast("cpu", dtype=dtype):
                y = self.layer(x)
                loss = F.mse_loss(y, x)
            return y + x, y, loss

    check_parity(Inner(), torch.randn(2, 4), grad=True, bound=2e-2)


def test_autocast_convolution_and_attention() -> None:
    class Blocks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = nn.Conv2d(2, 4, 3, padding=1)

        def forward(self, x: Tensor) -> Tensor:
            y = self.convolution(x).flatten(2)
            return F.scaled_dot_product_attention(y, y, y)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        check_parity(Blocks(), torch.randn(1, 2, 4, 4), grad=True, bound=3e-2)


def test_autocast_switched_off_inside() -> None:
    def use(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        y = x @ w
        with torch.autocast("cpu", enabled=False):
            z = x.float() @ w
        return y, z

    with torch.autocast("cpu", dtype=torch.bfloat16):
        check_parity(use, torch.randn(3, 4), torch.randn(4, 2), bound=2e-2)


def test_backward_of_an_inner_region_without_autocast_is_that_of_aot_autograd() -> None:
    """In torch 2.13 AOTAutograd itself differs from eager here; a backend must add nothing."""
    module = nn.Linear(16, 16)
    x = torch.randn(4, 16).bfloat16()

    def use(h: Tensor) -> Tensor:
        with torch.autocast("cpu", enabled=False):
            return h.float() @ module.weight.t()

    gradients = []
    for settings in ({"backend": "aot_eager"}, {}):
        module.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = compiled(use, **settings)(x)
        assert y.dtype == torch.float32
        y.sum().backward()
        gradients.append(module.weight.grad)
        torch._dynamo.reset()
    torch.testing.assert_close(gradients[1], gradients[0], rtol=2e-2, atol=2e-2)


def test_turning_autocast_on_and_off_between_calls() -> None:
    module = nn.Linear(4, 4)
    function = compiled(module)
    x = torch.randn(2, 4)
    for enabled in (False, True, False, True):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            y = function(x)
        assert y.dtype == (torch.bfloat16 if enabled else torch.float32)
        torch.testing.assert_close(y.float(), module(x), rtol=2e-2, atol=2e-2)


@HALVES
def test_training_under_autocast_follows_eager(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    model = network()
    twin = copy.deepcopy(model)
    function = compiled(twin)
    optimizers = [torch.optim.AdamW(m.parameters(), lr=1e-2) for m in (model, twin)]
    x, labels = torch.randn(16, 8), torch.randint(0, 4, (16,))
    for _ in range(5):
        losses = []
        for m, optimizer in zip((model, function), optimizers, strict=True):
            with torch.autocast("cpu", dtype=dtype):
                loss = F.cross_entropy(m(x), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        assert losses[1] == pytest.approx(losses[0], rel=2e-2)


def test_mixed_operands_that_eager_refuses_are_refused() -> None:
    a, b = torch.randn(2, 2), torch.randn(2, 2).bfloat16()
    with pytest.raises(RuntimeError, match="dtype"):
        a @ b
    with pytest.raises(Exception, match=r"dtype|datatype"):
        compiled(torch.matmul)(a, b)


def test_gradient_scaler_scales_and_unscales() -> None:
    module = nn.Linear(3, 1)
    function = compiled(module)
    scaler = torch.amp.GradScaler("cpu", init_scale=8.0)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    before = module.weight.detach().clone()
    x = torch.ones(2, 3)
    scaler.scale(function(x).mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    torch.testing.assert_close(module.weight.detach(), before - 0.1)
