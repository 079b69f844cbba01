"""`no_grad`, `inference_mode` and their kin, around and inside the compiled function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from parity import check_parity, compiled

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_mode_around_the_call(mode: Callable[[], Any]) -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    with mode():
        check_parity(module, torch.randn(4, 3), bound=1e-5)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_mode_with_a_written_argument_and_views(mode: Callable[[], Any]) -> None:
    with mode():
        check_parity(lambda x: (x.add_(1), x.view(-1), x[0], x * 2), torch.randn(2, 3))


def test_modes_switched_inside_the_function() -> None:
    def use(x: Tensor) -> tuple[Tensor, ...]:
        a = x * 2
        with torch.no_grad():
            b = x * 3
            with torch.enable_grad():
                c = x * 4
        with torch.set_grad_enabled(False):
            d = a + 1
        return a, b, c, d

    check_parity(use, torch.randn(3, requires_grad=True), grad=True)


def test_no_grad_decorator() -> None:
    @torch.no_grad()
    def use(x: Tensor) -> Tensor:
        return x * 2

    check_parity(use, torch.randn(3, requires_grad=True))


def test_one_function_called_in_turn_with_and_without_grad() -> None:
    module = nn.Linear(3, 3)
    function = compiled(module)
    x = torch.randn(2, 3)
    for grad in (True, False, True, False):
        with torch.set_grad_enabled(grad):
            y = function(x)
        assert y.requires_grad == grad
        torch.testing.assert_close(y, module(x))


def test_result_of_inference_mode_is_an_inference_tensor() -> None:
    function = compiled(lambda x: x + 1)
    with torch.inference_mode():
        assert function(torch.ones(2)).is_inference()
    assert not function(torch.ones(2)).is_inference()


def test_inference_tensor_passed_outside_of_inference_mode() -> None:
    with torch.inference_mode():
        x = torch.ones(3)
    check_parity(lambda w: w * 2, torch.ones(3))
    torch.testing.assert_close(compiled(lambda t: t * 2)(x), torch.full((3,), 2.0))


def test_argument_that_starts_to_require_grad() -> None:
    function = compiled(lambda x: x.exp())
    x = torch.zeros(3)
    assert not function(x).requires_grad
    x.requires_grad_()
    y = function(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, torch.ones(3))
    x.requires_grad_(False)
    assert not function(x).requires_grad


def test_training_flag_is_read_on_each_call() -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5))
    function = compiled(module)
    x = torch.ones(2, 3)
    module.eval()
    torch.testing.assert_close(function(x), module[0](x))
    module.train()
    torch.manual_seed(1)
    assert (function(torch.ones(64, 3)) == 0).any()
    module.eval()
    torch.testing.assert_close(function(x), module[0](x))


def test_grad_mode_is_what_it_was_after_a_call() -> None:
    def use(x: Tensor) -> Tensor:
        torch.set_grad_enabled(False)
        y = x * 2
        torch.set_grad_enabled(True)
        return y

    x = torch.ones(2, requires_grad=True)
    y = compiled(use)(x)
    assert torch.is_grad_enabled()
    assert not y.requires_grad


def test_recurrent_layers_without_gradients() -> None:
    # PyTorch has operators of their own for these, in inference on a CPU.
    layers = nn.LSTM(4, 8, 2, batch_first=True, bidirectional=True)
    with torch.no_grad():
        check_parity(lambda x: layers(x)[0], torch.randn(2, 5, 4), bound=1e-5)
    assert torch.backends.mkldnn.enabled
