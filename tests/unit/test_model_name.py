"""What reports call the thing that is compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from neuron_compile.model_name import model_name


class Inner(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.sin()


class Outer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def forward(self, x: Tensor) -> Any:
        return self.inner(x) * 2


def passes_on(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def wrapper(*args: Any) -> Any:
        return method(*args)

    return wrapper


class Decorated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    @passes_on
    def forward(self, x: Tensor) -> Any:
        return self.inner(x) + 1


inner = Inner()


def train_step(x: Tensor) -> Any:
    return inner(x).sum()


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        (Outer(), "Outer"),
        (Decorated(), "Decorated"),
        (nn.Sequential(nn.Linear(2, 2)), "Sequential"),
        (train_step, "train_step"),
        (lambda x: x + 1, "function"),
    ],
    ids=["module", "decorated", "container", "function", "lambda"],
)
def test_root_is_named_not_what_it_calls(subject: Any, name: str) -> None:
    names = []

    def backend(module: torch.fx.GraphModule, _: Any) -> Any:
        names.append(model_name())
        return module

    compiled: Any = torch.compile(subject, backend=backend)
    compiled(torch.ones(2, 2))
    assert names == [name]


def test_outside_of_a_compilation_there_is_a_default() -> None:
    assert model_name() == "function"
