"""Python numbers, strings and flags as arguments: right for every value, with a bounded cost."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.utils import counters

from parity import check_parity, compiled

DYNAMIC = pytest.mark.parametrize("dynamic", [False, None], ids=["static", "unset"])


@DYNAMIC
def test_integer_that_takes_many_values(dynamic: bool | None) -> None:
    function = compiled(lambda x, k: x * k, dynamic=dynamic)
    for k in range(12):
        assert torch.equal(function(torch.ones(2), k), torch.full((2,), float(k)))


@DYNAMIC
def test_float_that_takes_many_values(dynamic: bool | None) -> None:
    function = compiled(lambda x, k: x * k + k, dynamic=dynamic)
    for k in range(12):
        assert torch.equal(function(torch.ones(2), k / 4), torch.full((2,), k / 2))


@DYNAMIC
def test_integer_used_as_a_size_and_float_as_a_factor(dynamic: bool | None) -> None:
    function = compiled(lambda x, k, s: x[:, :k] * s, dynamic=dynamic)
    for k, s in ((3, 1.5), (4, 2.5), (5, 0.5), (1, -1.0), (3, 1.5)):
        assert torch.equal(function(torch.ones(2, 6), k, s), torch.ones(2, k) * s)


@DYNAMIC
def test_integer_as_dimension_and_as_index(dynamic: bool | None) -> None:
    function = compiled(lambda x, d, i: x.sum(d)[i], dynamic=dynamic)
    x = torch.arange(12.0).view(3, 4)
    for d, i in ((0, 1), (1, 2), (-1, 0), (0, -1)):
        assert torch.equal(function(x, d, i), x.sum(d)[i])


def test_flag_and_string_choose_a_branch() -> None:
    def use(x: Tensor, double: bool, name: str) -> Tensor:
        y = x * 2 if double else x
        return y.relu() if name == "relu" else y.exp()

    function = compiled(use)
    x = torch.randn(4)
    for double in (True, False, True):
        for name in ("relu", "exp"):
            torch.testing.assert_close(function(x, double, name), use(x, double, name))


def test_special_floats() -> None:
    function = compiled(lambda x, s: x * s)
    for s in (float("inf"), float("-inf"), float("nan"), -0.0, 1e-37, 3.5e38):
        torch.testing.assert_close(
            function(torch.ones(2), s), torch.ones(2) * s, equal_nan=True, rtol=0, atol=0
        )


def test_large_integers() -> None:
    function = compiled(lambda x, k: x + k)
    for k in (2**31, -(2**31) - 1, 2**53 + 1, 2**62):
        assert function(torch.zeros(1, dtype=torch.int64), k).item() == k


def test_none_and_default_arguments() -> None:
    def use(x: Tensor, bias: Tensor | None = None, scale: float = 2.0) -> Tensor:
        return x * scale if bias is None else x * scale + bias

    function = compiled(use)
    x = torch.ones(2)
    assert function(x).tolist() == [2.0, 2.0]
    assert function(x, torch.ones(2)).tolist() == [3.0, 3.0]
    assert function(x, None, scale=4.0).tolist() == [4.0, 4.0]


def test_numbers_in_containers() -> None:
    check_parity(lambda x, c: x * c["a"] + c["b"][1], torch.ones(3), {"a": 2, "b": [0, 1.5]})


def test_numbers_taken_out_of_tensors() -> None:
    def use(x: Tensor, s: Tensor) -> tuple[Tensor, Any]:
        value = s.item()
        return x * value, value

    function = compiled(use)
    for s in (1.5, -2.0):
        y, value = function(torch.ones(2), torch.tensor(s))
        assert y.tolist() == [s, s]
        assert value == s


def test_result_that_is_computed_from_sizes() -> None:
    def use(x: Tensor) -> tuple[Any, ...]:
        return x.numel() / 2, x.shape[0] * 3, x.mean(0) * x.size(0), len(x), x.stride()

    check_parity(use, torch.randn(4, 3))


def test_step_attribute_that_enters_the_arithmetic() -> None:
    class Warmup(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.step = 0

        def forward(self, x: Tensor) -> Tensor:
            self.step += 1
            return x * self.step

    module = Warmup()
    function = compiled(module)
    before = counters["stats"]["unique_graphs"]
    for step in range(1, 12):
        assert function(torch.ones(1)).item() == step
    # One graph a value, and none beyond Dynamo's limit.
    assert counters["stats"]["unique_graphs"] - before <= torch._dynamo.config.recompile_limit


def test_reaching_the_recompile_limit_is_told(caplog: pytest.LogCaptureFixture) -> None:
    function = compiled(lambda x, k: x * k)
    with caplog.at_level(logging.WARNING, logger="torch._dynamo"):
        for k in range(12):
            function(torch.ones(2), k)
    told = [r.getMessage() for r in caplog.records if "recompile_limit" in r.getMessage()]
    assert len(told) == 1
    # The last value that was compiled, by the guard that failed.
    assert "k == 7" in told[0]
    assert "recompile_limit (8)" in told[0]


def test_numpy_scalars_and_arrays() -> None:
    import numpy as np

    function = compiled(lambda x, a: x + torch.from_numpy(a) * 2)
    assert function(torch.ones(2), np.array([1.0, 2.0], dtype=np.float32)).tolist() == [3.0, 5.0]
