from __future__ import annotations

from typing import Any

import pytest
import torch
from scipy import stats

from unit.lowering.library.against_eager import run

SEED = torch.tensor([-77])


def draw(name: str, result: torch.Tensor, *arguments: Any) -> torch.Tensor:
    return run(f"neuron_compile.{name}.default", [result], SEED, 3, *arguments)[0]


@pytest.mark.parametrize("rate", [0.0, 0.7, 40.0])
def test_poisson(rate: float) -> None:
    rates = torch.full((5000,), rate)
    sample = draw("poisson", rates, rates)
    assert sample.mean() == pytest.approx(rate, rel=0.05)
    assert sample.var() == pytest.approx(rate, rel=0.1)


def test_binomial() -> None:
    count, prob = torch.full((5000,), 12.0), torch.full((5000,), 0.25)
    sample = draw("binomial", count, count, prob)
    assert sample.min() >= 0
    assert sample.max() <= 12
    assert sample.mean() == pytest.approx(3, rel=0.05)
    assert sample.var() == pytest.approx(12 * 0.25 * 0.75, rel=0.1)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 9.5])
def test_gamma(alpha: float) -> None:
    shape = torch.full((5000,), alpha)
    sample = draw("gamma", shape, shape)
    assert sample.min() > 0
    assert stats.kstest(sample.double().numpy(), stats.gamma(alpha).cdf).pvalue > 1e-3


def test_dirichlet() -> None:
    alpha = torch.tensor([0.2, 1.0, 3.0]).expand(4000, 3)
    sample = draw("dirichlet", alpha, alpha)
    torch.testing.assert_close(sample.sum(-1), torch.ones(4000))
    torch.testing.assert_close(sample.mean(0), alpha[0] / 4.2, rtol=0.1, atol=0.01)


def test_multinomial_with_replacement() -> None:
    probs = torch.tensor([0.0, 1.0, 3.0, 0.0, 4.0, 0.0])
    sample = draw("multinomial", torch.empty(8000, dtype=torch.int64), probs, 8000, True)
    share = torch.bincount(sample, minlength=6).double() / 8000
    torch.testing.assert_close(share, probs.double() / 8, rtol=0, atol=0.02)
    assert share[probs == 0].sum() == 0


def test_multinomial_without_replacement() -> None:
    probs = torch.tensor([0.5, 0.0, 1.0, 2.0]).expand(3000, 4)
    sample = draw("multinomial", torch.empty(3000, 3, dtype=torch.int64), probs, 3, False)
    assert (sample.sort(-1)[0] == torch.tensor([0, 2, 3])).all()
    first = torch.bincount(sample[:, 0], minlength=4).double() / 3000
    torch.testing.assert_close(first, probs[0].double() / 3.5, rtol=0, atol=0.03)
