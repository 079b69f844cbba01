from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from scipy import stats

from unit.lowering.library.against_eager import run

SEED = torch.tensor([0x1234_5678_9ABC_DEF0])
COUNT = 20_000
FLOATS = [torch.float32, torch.float64, torch.bfloat16, torch.float16]


def draw(
    name: str,
    *parameters: Any,
    dtype: torch.dtype = torch.float32,
    site: int = 1,
    seed: torch.Tensor = SEED,
) -> torch.Tensor:
    declared = torch.empty(COUNT, dtype=dtype)
    return run(
        f"neuron_compile.{name}.default", [declared], seed, site, [COUNT], *parameters, dtype
    )[0]


def fits(sample: torch.Tensor, cdf: Any) -> bool:
    return bool(stats.kstest(sample.double().numpy(), cdf).pvalue > 1e-3)


def test_seed_and_site_decide_the_numbers() -> None:
    first = draw("uniform", 0.0, 1.0)
    assert torch.equal(first, draw("uniform", 0.0, 1.0))
    for other in (
        draw("uniform", 0.0, 1.0, site=2),
        draw("uniform", 0.0, 1.0, seed=SEED + 1),
        draw("uniform", 0.0, 1.0, seed=SEED + 2**32),
    ):
        assert abs(torch.corrcoef(torch.stack([first, other]))[0, 1]) < 0.03


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("low, high", [(0.0, 1.0), (-3.0, 7.0), (1000.0, 1001.0)])
def test_uniform_stays_below_its_upper_bound(dtype: torch.dtype, low: float, high: float) -> None:
    sample = draw("uniform", low, high, dtype=dtype)
    assert sample.min() >= low
    assert (sample < high).all() or (low + 1 == 1001.0 and dtype is torch.bfloat16)
    if dtype.itemsize >= 4:
        assert fits(sample, stats.uniform(low, high - low).cdf)


def test_uniform_has_the_resolution_of_its_dtype() -> None:
    for dtype, digits in ((torch.float32, 24), (torch.bfloat16, 8), (torch.float16, 11)):
        scaled = draw("uniform", 0.0, 1.0, dtype=dtype).double() * 2**digits
        assert torch.equal(scaled, scaled.round())
        assert (scaled % 2 == 1).any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal(dtype: torch.dtype) -> None:
    sample = draw("normal", 2.0, 3.0, dtype=dtype)
    assert sample.double().mean() == pytest.approx(2, abs=0.1)
    assert sample.double().std() == pytest.approx(3, abs=0.1)
    if dtype.itemsize >= 4:
        assert fits(sample, stats.norm(2, 3).cdf)


@pytest.mark.parametrize("low, high", [(0, 10), (-5, 3), (-(2**63), 2**63), (-(2**62), 2**62)])
def test_randint(low: int, high: int) -> None:
    sample = draw("randint", low, high, dtype=torch.int64)
    assert sample.min().item() >= low
    assert sample.max().item() < high
    if high - low <= 10:
        counts = torch.bincount(sample - low, minlength=high - low)
        assert stats.chisquare(counts.numpy()).pvalue > 1e-3
    else:
        assert fits(sample, stats.uniform(low, high - low).cdf)


def test_randint_of_other_dtypes() -> None:
    for dtype in (torch.int32, torch.uint8, torch.float32, torch.bfloat16):
        sample = draw("randint", 3, 7, dtype=dtype)
        assert sorted(set(sample.tolist())) == [3, 4, 5, 6]


def test_randperm_is_a_permutation() -> None:
    (sample,) = run(
        "neuron_compile.randperm.default",
        [torch.empty(500, dtype=torch.int64)],
        SEED,
        4,
        500,
        torch.int64,
    )
    assert sorted(sample.tolist()) == list(range(500))
    assert sample.tolist() != list(range(500))
    (none,) = run(
        "neuron_compile.randperm.default",
        [torch.empty(0, dtype=torch.int64)],
        SEED,
        4,
        0,
        torch.int64,
    )
    assert none.shape == (0,)


def test_bits_use_all_64() -> None:
    (sample,) = run(
        "neuron_compile.bits.default", [torch.empty(1000, dtype=torch.int64)], SEED, 4, [1000]
    )
    ones = [int(((sample >> place) & 1).sum()) for place in range(64)]
    assert min(ones) > 400
    assert max(ones) < 600


@pytest.mark.parametrize(
    "name, parameters, law",
    [
        ("exponential", (0.5,), stats.expon(scale=2)),
        ("cauchy", (1.0, 2.0), stats.cauchy(1, 2)),
        ("log_normal", (0.5, 0.25), stats.lognorm(0.25, scale=math.exp(0.5))),
    ],
)
def test_continuous_distributions(name: str, parameters: tuple[float, ...], law: Any) -> None:
    sample = draw(name, *parameters)
    assert sample.isfinite().all()
    assert fits(sample, law.cdf)
    assert draw(name, *parameters, dtype=torch.bfloat16).isfinite().all()


def test_exponential_is_above_zero() -> None:
    assert draw("exponential", 1.0, dtype=torch.bfloat16).min() > 0


def test_geometric() -> None:
    sample = draw("geometric", 0.3)
    assert sample.min() == 1
    assert sample.mean() == pytest.approx(1 / 0.3, rel=0.03)
    assert (sample == 1).double().mean() == pytest.approx(0.3, abs=0.02)
    assert draw("geometric", 0.3, dtype=torch.int64).min() == 1
    assert draw("geometric", 1.0).unique().tolist() == [1.0]


def test_an_empty_shape_draws_nothing() -> None:
    (sample,) = run(
        "neuron_compile.normal.default",
        [torch.empty(0, 3)],
        SEED,
        1,
        [0, 3],
        0.0,
        1.0,
        torch.float32,
    )
    assert sample.shape == (0, 3)


def test_parts_of_complex_numbers() -> None:
    sample = torch.view_as_real(draw("normal", 3.0, 2.0, dtype=torch.complex64))
    for part, mean in ((sample[:, 0], 3), (sample[:, 1], 0)):
        assert fits(part, stats.norm(mean, math.sqrt(2)).cdf)
    assert abs(torch.corrcoef(sample.T)[0, 1]) < 0.03
    sample = torch.view_as_real(draw("uniform", -1.0, 3.0, dtype=torch.complex64))
    for part in sample.T:
        assert fits(part, stats.uniform(-1, 4).cdf)


def draw_each(name: str, parameter: torch.Tensor) -> torch.Tensor:
    shape = [4000, *parameter.shape]
    declared = torch.empty(shape, dtype=parameter.dtype)
    operator = f"neuron_compile.{name}.default"
    return run(operator, [declared], SEED, 1, parameter, shape, parameter.dtype)[0]


def test_bernoulli_with_a_probability_for_each_element() -> None:
    sample = draw_each("bernoulli", torch.tensor([0.0, 0.3, 1.0]))
    share = sample.double().mean(0)
    assert share[0] == 0
    assert share[1] == pytest.approx(0.3, abs=0.03)
    assert share[2] == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_normal_with_a_deviation_for_each_element(dtype: torch.dtype) -> None:
    std = torch.tensor([0.0, 0.5, 3.0], dtype=dtype)
    sample = draw_each("scaled_normal", std)
    assert sample[:, 0].abs().max() == 0
    torch.testing.assert_close(sample.double().std(0), std.double(), rtol=0.05, atol=0)
    torch.testing.assert_close(sample.double().mean(0), torch.zeros(3).double(), rtol=0, atol=0.2)
