"""Random operators of a seed in eager PyTorch."""

from __future__ import annotations

import pytest
import torch

from neuron_compile.lowering.random_ops import NAMESPACE
from neuron_compile.warmup.eager_random import eager_random

SEED = torch.tensor([-5])
SHAPE = [4000]
F32 = torch.float32
# Name -> further arguments, the mean that is expected (None: has none).
CALLS: dict[str, tuple[tuple[object, ...], float | None]] = {
    "uniform": ((SHAPE, 1.0, 3.0, F32), 2.0),
    "normal": ((SHAPE, 5.0, 2.0, F32), 5.0),
    "randint": ((SHAPE, 2, 5, torch.int64), 3.0),
    "exponential": ((SHAPE, 0.5, F32), 2.0),
    "geometric": ((SHAPE, 0.25, F32), 4.0),
    "cauchy": ((SHAPE, 0.0, 1.0, F32), None),
    "log_normal": ((SHAPE, 0.0, 0.25, F32), 1.03),
    "randperm": ((4001, torch.int64), 2000.0),
    "multinomial": ((torch.tensor([0.0, 1.0, 1.0]), 4000, True), 1.5),
    "bernoulli": ((torch.tensor(0.25, dtype=torch.float64), SHAPE, F32), 0.25),
    "scaled_normal": ((torch.full((4000,), 2.0), SHAPE, torch.bfloat16), None),
    "poisson": ((torch.full(SHAPE, 3.0),), 3.0),
    "binomial": ((torch.full(SHAPE, 10.0), torch.full(SHAPE, 0.5)), 5.0),
    "gamma": ((torch.full(SHAPE, 2.0),), 2.0),
    "dirichlet": ((torch.ones(1000, 4),), 0.25),
}


@pytest.mark.parametrize("name", CALLS)
def test_distribution_seed_site_and_type(name: str) -> None:
    arguments, mean = CALLS[name]
    draw = eager_random(name)
    first = draw(SEED, 0, *arguments)
    assert torch.equal(first, draw(SEED, 0, *arguments))
    assert not torch.equal(first, draw(SEED, 1, *arguments))
    declared = getattr(getattr(torch.ops, NAMESPACE), name)
    with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True):
        expected = declared(SEED, 0, *arguments)
    assert (first.dtype, first.shape) == (expected.dtype, expected.shape)
    if mean is not None:
        assert first.double().mean().item() == pytest.approx(mean, rel=0.06)


def test_seeds_follow_the_generator() -> None:
    torch.manual_seed(3)
    drawn = [eager_random("draw_seed")() for _ in range(2)]
    torch.manual_seed(3)
    assert torch.equal(eager_random("draw_seed")(), drawn[0])
    assert not torch.equal(drawn[0], drawn[1])
    assert drawn[0].shape == (1,)
    assert drawn[0].dtype == torch.int64


def test_each_element_has_its_own_deviation() -> None:
    std = torch.tensor([[0.0], [2.0]])
    still, spread = eager_random("scaled_normal")(SEED, 0, std, [2, 4000], F32)
    assert still.count_nonzero() == 0
    assert spread.std().item() == pytest.approx(2.0, rel=0.06)
    assert spread.mean().item() == pytest.approx(0.0, abs=0.15)
