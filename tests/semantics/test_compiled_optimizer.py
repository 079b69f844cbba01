"""Optimizer steps inside the compiled region."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from parity import compiled

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIMIZERS: dict[str, Callable[[Any], torch.optim.Optimizer]] = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1),
    "adamw_foreach": lambda p: torch.optim.AdamW(p, lr=0.01, foreach=True),
    "adamw_tensor_rate": lambda p: torch.optim.AdamW(p, lr=torch.tensor(0.01)),
    "amsgrad": lambda p: torch.optim.Adam(p, lr=0.01, amsgrad=True),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01, momentum=0.5),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.01),
}


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def state_of(optimizer: torch.optim.Optimizer) -> list[dict[str, Tensor]]:
    return list(optimizer.state_dict()["state"].values())


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_compiled_step_updates_parameters_and_state_as_eager(name: str) -> None:
    sides = []
    for compile_it in (False, True):
        module = network()
        optimizer = OPTIMIZERS[name](module.parameters())
        step: Callable[[], None] = compiled(optimizer.step) if compile_it else optimizer.step
        for index in range(4):
            module.zero_grad()
            torch.manual_seed(index)
            module(torch.randn(3, 4)).square().mean().backward()
            step()
        sides.append((module.state_dict(), state_of(optimizer)))
    (parameters, state), (compiled_parameters, compiled_state) = sides
    torch.testing.assert_close(compiled_parameters, parameters, rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(compiled_state, state, rtol=1e-4, atol=1e-6)


def test_parameters_are_updated_in_place() -> None:
    module = network()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    step = compiled(optimizer.step)
    addresses = [p.data_ptr() for p in module.parameters()]
    versions = [p._version for p in module.parameters()]
    for _ in range(2):
        module.zero_grad()
        module(torch.ones(1, 4)).sum().backward()
        step()
    assert [p.data_ptr() for p in module.parameters()] == addresses
    assert all(p._version > v for p, v in zip(module.parameters(), versions, strict=True))


def test_learning_rate_schedule_in_a_tensor() -> None:
    sides = []
    for compile_it in (False, True):
        module = network()
        optimizer = torch.optim.AdamW(module.parameters(), lr=torch.tensor(0.1))
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
        step: Callable[[], None] = compiled(optimizer.step) if compile_it else optimizer.step
        for _ in range(3):
            module.zero_grad()
            module(torch.ones(2, 4)).square().sum().backward()
            step()
            scheduler.step()
        sides.append(module.state_dict())
    torch.testing.assert_close(sides[1], sides[0], rtol=1e-4, atol=1e-6)


def test_compiled_model_with_compiled_step() -> None:
    model = network()
    twin = copy.deepcopy(model)
    optimizers = [torch.optim.AdamW(m.parameters(), lr=0.01) for m in (model, twin)]
    function, step = compiled(twin), compiled(optimizers[1].step)
    for _ in range(5):
        x = torch.randn(4, 4)
        for m, update, optimizer in (
            (model, optimizers[0].step, optimizers[0]),
            (function, step, optimizers[1]),
        ):
            optimizer.zero_grad()
            m(x).square().mean().backward()
            update()
    torch.testing.assert_close(twin.state_dict(), model.state_dict(), rtol=1e-4, atol=1e-5)


def test_training_step_compiled_as_one_function_with_functional_gradients() -> None:
    weights = {"w": torch.randn(4, 2), "b": torch.zeros(2)}

    def loss(parameters: dict[str, Tensor], x: Tensor) -> Tensor:
        return (x @ parameters["w"] + parameters["b"]).square().mean()

    def step(parameters: dict[str, Tensor], x: Tensor) -> dict[str, Tensor]:
        gradients = torch.func.grad(loss)(parameters, x)
        return {name: p - 0.1 * gradients[name] for name, p in parameters.items()}

    expected, actual = weights, weights
    function = compiled(step)
    for _ in range(3):
        x = torch.randn(3, 4)
        expected, actual = step(expected, x), function(actual, x)
    torch.testing.assert_close(actual, expected)


def test_hand_written_update_under_no_grad() -> None:
    parameters = [torch.randn(3, requires_grad=True) for _ in range(3)]
    references = copy.deepcopy(parameters)

    @torch.no_grad()
    def update(tensors: list[Tensor], gradients: list[Tensor]) -> None:
        torch._foreach_add_(tensors, gradients, alpha=-0.1)
        for tensor in tensors:
            tensor.clamp_(-1, 1)

    gradients = [torch.randn(3) for _ in range(3)]
    compiled(update)(parameters, gradients)
    update(references, gradients)
    torch.testing.assert_close(parameters, references)


def test_gradient_with_other_strides_than_its_parameter() -> None:
    start = torch.randn(4, 3, 2, 2).to(memory_format=torch.channels_last)
    parameters = [nn.Parameter(start.clone()) for _ in range(2)]
    optimizers = [torch.optim.AdamW([parameter]) for parameter in parameters]
    steps = [optimizers[0].step, compiled(lambda: optimizers[1].step())]
    for _ in range(2):
        gradient = torch.randn(4, 3, 2, 2)
        for parameter, step in zip(parameters, steps, strict=True):
            parameter.grad = gradient.clone()
            step()
    torch.testing.assert_close(*parameters)
    assert parameters[0].stride() == parameters[1].stride()
