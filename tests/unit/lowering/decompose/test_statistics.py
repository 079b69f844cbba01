"""Composite operators that look at no values agree with PyTorch's own."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from neuron_compile.lowering.decompose.statistics import combinations, cov

ROWS = torch.tensor([[1.0, 4.0, 2.0, 8.0], [0.5, -1.0, 3.0, 2.0], [7.0, 1.0, 0.0, -2.0]])
COUNTS, WEIGHTS = torch.tensor([1, 2, 0, 3]), torch.tensor([0.5, 1.0, 2.0, 0.25])


@pytest.mark.parametrize("observations", [ROWS, ROWS[0], ROWS.to(torch.int64), ROWS * (1 + 2j)])
@pytest.mark.parametrize("correction", [0, 1, 2])
@pytest.mark.parametrize("fweights", [None, COUNTS])
@pytest.mark.parametrize("aweights", [None, WEIGHTS])
def test_covariance(
    observations: Tensor, correction: int, fweights: Tensor | None, aweights: Tensor | None
) -> None:
    expected = torch.cov(observations, correction=correction, fweights=fweights, aweights=aweights)
    actual = cov(observations, correction=correction, fweights=fweights, aweights=aweights)
    torch.testing.assert_close(actual, expected)


@pytest.mark.filterwarnings("ignore:cov")
def test_covariance_without_degrees_of_freedom_is_infinite() -> None:
    expected = torch.cov(ROWS[:, :2], correction=5)
    torch.testing.assert_close(cov(ROWS[:, :2], correction=5), expected, equal_nan=True)


@pytest.mark.parametrize("length", [0, 1, 4])
@pytest.mark.parametrize("r", [0, 1, 2, 3])
@pytest.mark.parametrize("with_replacement", [False, True])
def test_combinations(length: int, r: int, with_replacement: bool) -> None:
    x = torch.arange(length) * 1.5
    assert torch.equal(
        combinations(x, r, with_replacement), torch.combinations(x, r, with_replacement)
    )
