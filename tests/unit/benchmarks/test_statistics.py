from __future__ import annotations

import pytest

from benchmarks.statistics import Ratio, geometric_mean, summarize


def test_spread_is_the_interquartile_range_over_the_median() -> None:
    summary = summarize([8.0, 9.0, 10.0, 11.0, 1000.0])
    assert summary.spread == pytest.approx(0.2)
    assert (summary.median, summary.count) == (10.0, 5)


@pytest.mark.parametrize("samples", [[3.0], [0.0, 0.0]], ids=["one", "zeros"])
def test_no_spread_where_there_is_none(samples: list[float]) -> None:
    summary = summarize(samples)
    assert (summary.median, summary.spread) == (samples[0], 0.0)


def test_geometric_mean_of_a_ratio_and_its_inverse_is_one() -> None:
    assert geometric_mean([4.0, 0.25]) == pytest.approx(1.0)
    assert geometric_mean([2.0, 2.0, 16.0]) == pytest.approx(4.0)


def test_ratio_quotes_the_median_round_and_the_extremes() -> None:
    ratio = Ratio((1.5, 0.9, 1.2))
    assert (ratio.median, ratio.low, ratio.high) == (1.2, 0.9, 1.5)
