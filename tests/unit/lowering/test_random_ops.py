"""Random operators as functions of a seed: shapes, types, and what tracing may do with them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from neuron_compile.lowering import random_ops

OPS: Any = getattr(torch.ops, random_ops.NAMESPACE)
SHAPED = {
    "uniform": (0.0, 1.0),
    "normal": (0.0, 1.0),
    "randint": (0, 9),
    "exponential": (1.0,),
    "geometric": (0.5,),
    "cauchy": (0.0, 1.0),
    "log_normal": (0.0, 1.0),
}


@pytest.mark.parametrize("name", SHAPED)
def test_shape_and_type_are_those_asked_for(name: str) -> None:
    with FakeTensorMode():
        seed = OPS.draw_seed()
        result = getattr(OPS, name)(seed, 0, [2, 3], *SHAPED[name], torch.float16)
    assert (seed.shape, seed.dtype) == ((1,), torch.int64)
    assert (result.shape, result.dtype) == ((2, 3), torch.float16)


@pytest.mark.parametrize(
    ("name", "count"), [("poisson", 1), ("gamma", 1), ("dirichlet", 1), ("binomial", 2)]
)
def test_shape_follows_the_parameters(name: str, count: int) -> None:
    with FakeTensorMode():
        parameters = [torch.empty(3, 2).t() for _ in range(count)]
        result = getattr(OPS, name)(OPS.draw_seed(), 0, *parameters)
    assert result.shape == (2, 3)
    assert result.is_contiguous()


def test_permutations_and_draws_from_weights() -> None:
    with FakeTensorMode():
        seed = OPS.draw_seed()
        assert OPS.randperm(seed, 0, 5, torch.int32).dtype == torch.int32
        drawn = OPS.multinomial(seed, 0, torch.empty(4, 6), 3, False)
    assert (drawn.shape, drawn.dtype) == ((4, 3), torch.int64)


def test_only_the_draw_of_the_seed_is_random() -> None:
    """What is tagged random is neither merged with its like nor computed twice."""
    tag = torch.Tag.nondeterministic_seeded
    assert tag in OPS.draw_seed.default.tags
    assert tag not in OPS.uniform.default.tags
