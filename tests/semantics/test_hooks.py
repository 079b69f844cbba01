"""Hooks on modules, tensors and gradients run once, at eager's time, and may change values."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from parity import check_parity, compiled

if TYPE_CHECKING:
    from collections.abc import Callable

# Dynamo itself reads `.grad` of a non-leaf argument.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def forward_hook(m: nn.Sequential) -> None:
    m[0].register_forward_hook(lambda module, args, output: output * 2)


def forward_pre_hook(m: nn.Sequential) -> None:
    m[2].register_forward_pre_hook(lambda module, args: (args[0] + 1,))


def full_backward_hook(m: nn.Sequential) -> None:
    def scale(module: nn.Module, inputs: Any, outputs: Any) -> tuple[Tensor]:
        return (inputs[0] * 3,)

    m[1].register_full_backward_hook(scale)


def full_backward_pre_hook(m: nn.Sequential) -> None:
    def scale(module: nn.Module, outputs: Any) -> tuple[Tensor]:
        return (outputs[0] * 0.5,)

    m[2].register_full_backward_pre_hook(scale)


def parameter_hook(m: nn.Sequential) -> None:
    m.get_parameter("0.weight").register_hook(lambda gradient: gradient.clamp(-0.01, 0.01))


def accumulated_hook(m: nn.Sequential) -> None:
    def scale(p: Tensor) -> None:
        assert p.grad is not None
        p.grad.mul_(7)

    m.get_parameter("2.weight").register_post_accumulate_grad_hook(scale)


@pytest.mark.parametrize(
    "install",
    [
        forward_hook,
        forward_pre_hook,
        full_backward_hook,
        full_backward_pre_hook,
        parameter_hook,
        accumulated_hook,
    ],
)
def test_hook_that_changes_values(install: Callable[[nn.Sequential], None]) -> None:
    expected, actual = network(), network()
    for module in (expected, actual):
        install(module)
    x = torch.randn(5, 3)
    function = compiled(actual)
    for m in (expected, function):
        m(x).pow(2).sum().backward()
    torch.testing.assert_close(function(x), expected(x))
    for p, q in zip(expected.parameters(), actual.parameters(), strict=True):
        torch.testing.assert_close(q.grad, p.grad)


def test_hook_on_a_tensor_inside_the_compiled_function() -> None:
    def use(x: Tensor) -> Tensor:
        y = x.exp()
        y.register_hook(lambda gradient: gradient * 2)
        return y * y

    check_parity(use, torch.randn(3, requires_grad=True), grad=True)


def test_hook_on_a_result_and_on_an_argument_outside() -> None:
    seen: list[Tensor] = []
    x = torch.ones(3, requires_grad=True)
    x.register_hook(seen.append)
    y = compiled(lambda t: t * 4)(x)
    y.register_hook(lambda gradient: gradient + 1)
    y.sum().backward()
    torch.testing.assert_close(x.grad, torch.full((3,), 8.0))
    assert len(seen) == 1
    torch.testing.assert_close(seen[0], torch.full((3,), 8.0))


def test_hook_on_the_compiled_module_itself_runs_once_a_call() -> None:
    calls: list[str] = []

    def note(*_: Any) -> None:
        calls.append("called")

    module = network()
    function = compiled(module)
    function.register_forward_hook(note)
    x = torch.randn(2, 3)
    function(x)
    function(x)
    assert len(calls) == 2


def test_hook_that_records_activations_sees_the_values() -> None:
    module, kept = network(), []
    module[1].register_forward_hook(lambda m, a, output: kept.append(output.detach()))
    x = torch.randn(2, 3)
    compiled(module)(x)
    expected = copy.deepcopy(module)[0](x).tanh()
    torch.testing.assert_close(kept[0], expected.detach())


def test_hook_removed_before_the_next_call_no_longer_runs() -> None:
    module = network()
    x = torch.randn(2, 3)
    plain = module(x)
    handle = module[2].register_forward_hook(lambda m, a, output: output + 100)
    function = compiled(module)
    torch.testing.assert_close(function(x), plain + 100)
    handle.remove()
    torch.testing.assert_close(function(x), plain)


def test_saved_tensor_hooks_around_a_compiled_call() -> None:
    x = torch.randn(4, requires_grad=True)
    with torch.autograd.graph.save_on_cpu():
        y = compiled(lambda t: t.sin() * t)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, (x.cos() * x + x.sin()).detach())


def test_retained_gradient_of_a_result() -> None:
    x = torch.ones(3, requires_grad=True)
    y = compiled(lambda t: t * 2)(x)
    y.retain_grad()
    (y * y).sum().backward()
    torch.testing.assert_close(y.grad, torch.full((3,), 4.0))
