"""A wrong result is blamed on the call that made it, and on no other."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule, Node

from fx_graphs import capture
from neuron_compile.bisection.departures import departures, distance
from neuron_compile.bisection.return_all_values import return_all_values


def values(module: GraphModule, *arguments: Tensor) -> dict[Node, Tensor]:
    whole, calls = return_all_values(module)
    return dict(zip(calls, whole(*arguments), strict=True))


def test_call_is_blamed_and_those_that_use_its_result_are_not() -> None:
    module = capture(lambda x: (x.sin() * 3).exp(), torch.zeros(3))
    x = torch.tensor([0.1, 0.2, 0.3])
    actual = values(module, x)
    assert list(departures(module, [x], actual, 1.0)) == []
    sine, product, exponential = actual
    actual[product] = actual[sine] * 3.01
    actual[exponential] = actual[product].exp()
    (found,) = departures(module, [x], actual, 1.0)
    assert found.node == product.name
    assert found.operator == "aten.mul.Tensor"
    assert found.error == pytest.approx(0.01 / 3, rel=1e-3)
    assert list(departures(module, [x], actual, 40.0)) == []


def test_one_of_several_results_is_checked_where_it_is_taken_out() -> None:
    module = capture(lambda x: x.max(0), torch.zeros(3))
    x = torch.tensor([1.0, 3.0, 2.0])
    actual = values(module, x)
    (index,) = [node for node in actual if actual[node].dtype == torch.int64]
    actual[index] = torch.tensor(0)
    (found,) = departures(module, [x], actual, 1.0)
    assert found.node == index.name
    assert found.error == math.inf


def test_sum_whose_terms_cancel_may_round_as_eagers_does() -> None:
    module = capture(lambda x: x.sum(), torch.zeros(1000))
    x = torch.randn(1000)
    x = torch.cat([x, -x])[torch.randperm(2000)][:1000]
    x[0] -= x.double().sum().float()
    actual = values(module, x)
    (total,) = actual
    rounding = (actual[total].double() - x.double().sum()).item()
    actual[total] = torch.tensor(x.double().sum().item() - 2 * rounding, dtype=torch.float32)
    assert list(departures(module, [x], actual, 1.0)) == []
    actual[total] += 0.1
    assert [found.node for found in departures(module, [x], actual, 1.0)] == [total.name]


def test_random_calls_are_passed_over() -> None:
    module = capture(lambda x: torch.bernoulli(x) + 1, torch.full((50,), 0.5))
    p = torch.full((50,), 0.5)
    assert list(departures(module, [p], values(module, p), 1.0)) == []


INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    "actual, expected, error",
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.5], [1.0, 2.0], 0.25),
        ([NAN, 2.0], [NAN, 2.0], 0.0),
        ([NAN, 2.0], [1.0, 2.0], NAN),
        ([1.0, 2.0], [NAN, 2.0], INF),
        ([INF, 2.0], [INF, 2.0], 0.0),
        ([-INF, 2.0], [INF, 2.0], INF),
        ([1, 2], [1, 2], 0.0),
        ([1, 3], [1, 2], INF),
        ([1], [1, 2], INF),
        ([1], [1.0], INF),
        ([1j], [2j], 0.5),
        ([], [], 0.0),
    ],
)
def test_distance(actual: list[float], expected: list[float], error: float) -> None:
    found = distance(torch.tensor(actual), torch.tensor(expected))
    assert found == error or (math.isnan(error) and math.isnan(found))
