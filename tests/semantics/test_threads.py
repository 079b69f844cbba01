"""Several threads, several models: calls do not disturb one another."""

from __future__ import annotations

import copy
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor, nn

from parity import compiled

# Dynamo itself reads `.grad` of a non-leaf argument.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


def test_one_warm_function_called_from_several_threads() -> None:
    function = compiled(lambda x: (x.sin() * x, x.sum()))
    function(torch.ones(64))

    def work(number: int) -> bool:
        x = torch.full((64,), float(number))
        return all(
            torch.allclose(y, z)
            for _ in range(20)
            for y, z in zip(function(x), (x.sin() * x, x.sum()), strict=True)
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_first_call_made_by_several_threads_at_once() -> None:
    module = nn.Linear(8, 8)
    function = compiled(module)
    barrier = threading.Barrier(3, timeout=60)
    inputs = [torch.randn(2, 8) for _ in range(3)]

    def work(x: Tensor) -> Tensor:
        barrier.wait()
        y: Tensor = function(x)
        return y

    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(work, inputs))
    for x, y in zip(inputs, results, strict=True):
        torch.testing.assert_close(y, module(x))


def test_backward_in_several_threads() -> None:
    function = compiled(lambda x: (x.exp() * x).sum())
    function(torch.ones(16, requires_grad=True)).backward()

    def work(number: int) -> bool:
        x = torch.full((16,), number / 8, requires_grad=True)
        function(x).backward()
        assert x.grad is not None
        return torch.allclose(x.grad, (x.exp() * (x + 1)).detach())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(16)))


def test_compiled_in_one_thread_called_in_another() -> None:
    results: list[Tensor] = []
    function = compiled(lambda x: x * 2)
    worker = threading.Thread(target=lambda: results.append(function(torch.ones(3))))
    worker.start()
    worker.join()
    results.append(function(torch.ones(3)))
    assert torch.equal(results[0], results[1])


def test_two_models_trained_in_turn() -> None:
    models = [nn.Linear(4, 1), nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))]
    references = copy.deepcopy(models)
    functions = [compiled(m) for m in models]
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in models + references]
    for _ in range(4):
        x = torch.randn(3, 4)
        for module, optimizer in zip([*functions, *references], optimizers, strict=True):
            optimizer.zero_grad()
            module(x).square().mean().backward()
            optimizer.step()
    for module, reference in zip(models, references, strict=True):
        torch.testing.assert_close(module.state_dict(), reference.state_dict())


def test_two_instances_of_one_class_keep_their_weights_apart() -> None:
    one, two = nn.Linear(3, 3), nn.Linear(3, 3)
    first, second = compiled(one), compiled(two)
    x = torch.randn(2, 3)
    for _ in range(2):
        torch.testing.assert_close(first(x), one(x))
        torch.testing.assert_close(second(x), two(x))


def test_result_of_one_compiled_function_feeds_another() -> None:
    first, second = compiled(lambda x: x.t() * 2), compiled(lambda y: y @ y.t())
    x = torch.randn(3, 4, requires_grad=True)
    second(first(x)).sum().backward()
    y = x.detach().requires_grad_()
    ((y.t() * 2) @ (y.t() * 2).t()).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
