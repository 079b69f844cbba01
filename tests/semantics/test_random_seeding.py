"""Random numbers follow torch's generator: seeds, states, and one independent stream a site."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parity import compiled, neuron_only

if TYPE_CHECKING:
    from collections.abc import Callable

DRAWS: dict[str, Callable[[Tensor], Tensor]] = {
    "rand": lambda x: torch.rand(64) + 0 * x,
    "randn": lambda x: torch.randn(64),
    "rand_like": lambda x: torch.rand_like(x),
    "randint": lambda x: torch.randint(0, 1 << 20, (64,)),
    "randint_like": lambda x: torch.randint_like(x, 1 << 20),
    "randperm": lambda x: torch.randperm(64),
    "normal": lambda x: torch.normal(x, x + 1),
    "bernoulli": lambda x: torch.bernoulli(torch.full((64,), 0.5)),
    "multinomial": lambda x: torch.multinomial(torch.ones(1000), 16),
    "poisson": lambda x: torch.poisson(torch.full((64,), 9.0)),
    "uniform_": lambda x: torch.empty(64).uniform_(),
    "normal_": lambda x: torch.empty(64).normal_(),
    "bernoulli_": lambda x: torch.empty(64).bernoulli_(0.5),
    "exponential_": lambda x: torch.empty(64).exponential_(),
    "geometric_": lambda x: torch.empty(64).geometric_(0.02),
    "cauchy_": lambda x: torch.empty(64).cauchy_(),
    "log_normal_": lambda x: torch.empty(64).log_normal_(),
    "random_": lambda x: torch.empty(64, dtype=torch.int64).random_(1 << 20),
    "dropout": lambda x: F.dropout(x + 1, 0.5),
    "dropout1d": lambda x: F.dropout1d((x + 1).view(1, 64, 1), 0.5),
    "alpha_dropout": lambda x: F.alpha_dropout(x + 1, 0.5, training=True),
    "rrelu": lambda x: F.rrelu(x - 1, training=True),
    "gumbel_softmax": lambda x: F.gumbel_softmax(x),
}


@pytest.mark.parametrize("name", DRAWS)
def test_seed_reproduces_and_calls_differ(name: str) -> None:
    function = compiled(DRAWS[name])
    x = torch.zeros(64)
    torch.manual_seed(7)
    first, second = function(x), function(x)
    torch.manual_seed(7)
    again = function(x)
    torch.manual_seed(8)
    other = function(x)
    assert torch.equal(first, again)
    assert not torch.equal(first, second)
    assert not torch.equal(first, other)


def test_draws_of_one_call_are_independent() -> None:
    def use() -> list[Tensor]:
        return [torch.rand(256), torch.rand(256), torch.rand(16, 16).view(256), torch.randn(256)]

    draws = compiled(use)()
    for i, a in enumerate(draws):
        for b in draws[:i]:
            assert abs(torch.corrcoef(torch.stack([a, b]))[0, 1]) < 0.25
            assert not torch.equal(a, b)


def test_two_dropouts_of_one_call_use_two_masks() -> None:
    function = compiled(lambda x: (F.dropout(x, 0.5), F.dropout(x, 0.5)))
    x = torch.ones(4096)
    torch.manual_seed(7)
    first, second = function(x), function(x)
    torch.manual_seed(7)
    again = function(x)
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(first[0], second[0])
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert set(first[0].tolist()) == {0.0, 2.0}
    assert first[0].mean().item() == pytest.approx(1, abs=0.1)


def test_two_functions_called_in_turn_do_not_repeat_each_other() -> None:
    first, second = compiled(lambda: torch.rand(64)), compiled(lambda: torch.rand(64))
    torch.manual_seed(3)
    draws = [first(), second(), first(), second()]
    assert len({tuple(d.tolist()) for d in draws}) == 4


def test_recompiled_function_does_not_replay_the_stream() -> None:
    function = compiled(lambda x: F.dropout(x, 0.5))
    x = torch.ones(256)
    first = function(x)
    torch._dynamo.reset()
    assert not torch.equal(first, function(x))


def test_generator_state_can_be_saved_and_restored() -> None:
    function = compiled(lambda: torch.randn(32))
    function()
    state = torch.get_rng_state()
    first, second = function(), function()
    torch.set_rng_state(state)
    assert torch.equal(function(), first)
    assert torch.equal(function(), second)


def test_forked_generator_leaves_the_outer_one_alone() -> None:
    function = compiled(lambda: torch.randn(8))
    function()
    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    with torch.random.fork_rng():
        function()
    assert torch.equal(torch.rand(4), expected)


def test_compiled_and_eager_draws_alternate_reproducibly() -> None:
    function = compiled(lambda: torch.rand(4))

    def run() -> Tensor:
        torch.manual_seed(11)
        return torch.cat([torch.rand(4), function(), torch.rand(4), function()])

    first = run()
    assert torch.equal(first, run())
    assert first.unique().numel() == 16


def test_function_without_random_numbers_leaves_the_generator_alone() -> None:
    function = compiled(lambda x: F.dropout(x.sin(), 0.5, training=False))
    state = torch.get_rng_state()
    function(torch.ones(3))
    function(torch.ones(3))
    assert torch.equal(torch.get_rng_state(), state)


@neuron_only
def test_one_seed_is_drawn_a_call_however_many_numbers_it_makes() -> None:
    few = compiled(lambda: torch.rand(2))
    many = compiled(lambda: (torch.rand(999), torch.randn(999), torch.randperm(50)))
    states = []
    for function in (few, many, few, many):
        torch.manual_seed(1)
        function()
        states.append(torch.get_rng_state())
    assert all(torch.equal(state, states[0]) for state in states)


# Dynamo breaks the graph at Python's generator, and says so.
@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace the builtin")
def test_python_random_numbers_are_drawn_on_each_call() -> None:
    function = compiled(lambda x: x * random.random())
    random.seed(0)
    values = [function(torch.ones(1)).item() for _ in range(4)]
    random.seed(0)
    assert values == pytest.approx([random.random() for _ in range(4)])


def test_evaluation_mode_and_extreme_rates() -> None:
    x = torch.randn(64)
    torch.testing.assert_close(compiled(nn.Dropout(0.5).eval())(x), x)
    torch.testing.assert_close(compiled(nn.Dropout(0.0))(x), x)
    torch.testing.assert_close(compiled(nn.Dropout(1.0))(x), torch.zeros(64))


def test_training_with_dropout_is_reproduced_by_its_seed() -> None:
    def run() -> list[float]:
        torch.manual_seed(2)
        module = nn.Sequential(nn.Linear(4, 32), nn.Dropout(0.5), nn.Linear(32, 1))
        function = compiled(module)
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        losses = []
        for _ in range(4):
            loss = function(torch.ones(2, 4)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    first = run()
    assert run() == first
    assert len(set(first)) == 4
