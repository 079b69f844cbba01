"""Graphs with control flow: kept, or traced again; in both cases the numbers are those of eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.while_loop import while_loop


@torch.compiler.nested_compile_region
def region(x: Tensor) -> Tensor:
    return x.sin() * 2


def nested(x: Tensor) -> Any:
    return region(region(x))


def associative(x: Tensor) -> Any:
    return associative_scan(lambda a, b: a * b + a, x, dim=0, combine_mode="generic")


def branches(x: Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x: x.sin() * 3, lambda x: x.cos(), (x,))


def loop(x: Tensor) -> Any:
    start = torch.zeros((), dtype=torch.int64)
    return while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x * 1.5), (start, x))[1]


def gradient(function: Any) -> tuple[Tensor, Tensor]:
    x = torch.linspace(-2, 3, 6).requires_grad_()
    result = function(x)
    return result.detach(), torch.autograd.grad(result.square().sum(), x)[0]


@pytest.mark.parametrize(
    ("function", "is_kept"), [(nested, True), (associative, True), (branches, False), (loop, False)]
)
def test_a_restart_computes_the_same(function: Any, is_kept: bool, restarts: Any) -> None:
    first = gradient(restarts.compile(function))
    second = gradient(restarts.compile(function))
    assert restarts.lookups == ({"hit": 1} if is_kept else {"bypass": 1})
    torch.testing.assert_close(first, gradient(function))
    torch.testing.assert_close(second, first, rtol=0, atol=0)


def test_a_number_in_the_function_is_part_of_what_is_looked_up(restarts: Any) -> None:
    def scaled(factor: float) -> Any:
        inner = torch.compiler.nested_compile_region(lambda x: x * factor)
        return lambda x: inner(inner(x))

    results = [gradient(restarts.compile(scaled(factor)))[0] for factor in (2.0, 3.0)]
    x = torch.linspace(-2, 3, 6)
    torch.testing.assert_close(results, [x * 4, x * 9])
