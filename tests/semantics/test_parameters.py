"""Parameters are inputs of the compiled code: whatever the user does to them is seen."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parity import check_parity, compiled


class Tied(nn.Module):
    """One parameter under two names: embedding and projection."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 3)
        self.project = nn.Linear(3, 5, bias=False)
        self.project.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.project(self.embedding(tokens))
        return logits


def test_tied_weights_get_one_summed_gradient() -> None:
    check_parity(Tied(), torch.tensor([1, 2, 4, 1]), grad=True)


def test_tied_weights_that_the_user_unties() -> None:
    module = Tied()
    function = compiled(module)
    tokens = torch.tensor([1, 3])
    function(tokens)
    module.project.weight = nn.Parameter(torch.zeros(5, 3))
    assert function(tokens).abs().sum() == 0
    module.load_state_dict({k: torch.randn(5, 3) for k in module.state_dict()}, assign=True)
    torch.testing.assert_close(function(tokens), module(tokens))


def test_one_layer_used_twice() -> None:
    layer = nn.Linear(3, 3)
    check_parity(nn.Sequential(layer, nn.Tanh(), layer), torch.randn(2, 3), grad=True)


@pytest.mark.parametrize("grad", [False, True])
def test_new_values_by_every_way_of_setting_them(grad: bool) -> None:
    module = nn.Linear(4, 1)
    function = compiled(module)
    x = torch.randn(2, 4)

    def agree() -> None:
        with torch.set_grad_enabled(grad):
            expected = F.linear(x, module.weight, module.bias)
            torch.testing.assert_close(function(x), expected)

    agree()
    with torch.no_grad():
        module.weight.add_(1)
    agree()
    module.load_state_dict({k: torch.randn_like(v) for k, v in module.state_dict().items()})
    agree()
    state = {k: torch.randn_like(v) for k, v in module.state_dict().items()}
    module.load_state_dict(state, assign=True)
    agree()
    module.weight.data = torch.zeros(1, 4)
    agree()
    module.weight.data.fill_(3)
    agree()
    module.weight = nn.Parameter(torch.randn(1, 4))
    agree()
    module.weight.data = torch.randn(4, 1).t()
    agree()
    module.weight.data = torch.randn(9)[1::2].view(1, 4)
    agree()


def test_weights_are_not_frozen_into_an_evaluated_model() -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)).eval()
    function = compiled(module)
    x = torch.randn(4, 3)
    with torch.no_grad():
        first = function(x)
        for tensor in module.state_dict().values():
            tensor.add_(1)
        second = function(x)
        torch.testing.assert_close(second, module(x))
    assert not torch.equal(first, second)


def test_parameter_frozen_and_unfrozen_during_training() -> None:
    module = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    reference = copy.deepcopy(module)
    function = compiled(module)
    x = torch.randn(4, 3)
    optimizers = [torch.optim.Adam(m.parameters(), lr=0.1) for m in (module, reference)]
    for step in range(9):
        for m, call, optimizer in zip(
            (module, reference), (function, reference), optimizers, strict=False
        ):
            if step in (3, 6):
                m[0].weight.requires_grad_(step == 6)
            optimizer.zero_grad()
            call(x).pow(2).mean().backward()
            assert (m[0].weight.grad is None) == (3 <= step < 6)
            optimizer.step()
    for p, q in zip(module.parameters(), reference.parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-4, atol=1e-5)


def test_all_but_the_last_layer_frozen_from_the_start() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    module[0].requires_grad_(False)
    check_parity(module, torch.randn(2, 3), grad=True)


def test_parameters_moved_to_another_dtype_and_back() -> None:
    module = nn.Linear(3, 2)
    function = compiled(module)
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.float32):
        module.to(dtype)
        x = torch.randn(2, 3).to(dtype)
        y = function(x)
        assert y.dtype == dtype
        torch.testing.assert_close(y, module(x))


def test_in_place_optimizer_steps_between_calls_are_seen() -> None:
    p = nn.Parameter(torch.ones(1024))
    function = compiled(lambda x: (p * x).sum())
    optimizer = torch.optim.SGD([p], lr=1.0)
    for step in range(8):
        loss = function(torch.ones(1024))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        assert loss.item() == 1024 * (1 - step)


def test_deep_copy_of_a_compiled_module_has_weights_of_its_own() -> None:
    module = compiled(nn.Linear(2, 2))
    x = torch.randn(1, 2)
    before = module(x).clone()
    other = copy.deepcopy(module)
    with torch.no_grad():
        other.weight.zero_()
        other.bias.zero_()
    assert other(x).abs().sum() == 0
    torch.testing.assert_close(module(x), before)


def test_state_dict_of_a_compiled_module_loads_into_the_module() -> None:
    module = nn.Linear(2, 2)
    wrapped = compiled(module)
    other = nn.Linear(2, 2)
    other.load_state_dict(
        {k.removeprefix("_orig_mod."): v for k, v in wrapped.state_dict().items()}
    )
    x = torch.randn(3, 2)
    torch.testing.assert_close(wrapped(x), other(x))


def test_parametrized_weights() -> None:
    module = torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    check_parity(module, torch.randn(4, 3), grad=True)
