"""Summaries of samples and of ratios. A median is what is quoted, a spread how far to trust it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """Of samples: their median, and their interquartile range as a fraction of it."""

    median: float
    spread: float
    count: int


def summarize(samples: Sequence[float]) -> Summary:
    """The summary of one sample or more."""
    median = statistics.median(samples)
    if len(samples) < 2 or not median:
        return Summary(median, 0.0, len(samples))
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Summary(median, (high - low) / median, len(samples))


@dataclass(frozen=True, slots=True)
class Ratio:
    """Of two things measured in the same rounds: one value for each round."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The ratio that is quoted."""
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        """That of the worst round for us."""
        return min(self.values)

    @property
    def high(self) -> float:
        """That of the best round for us."""
        return max(self.values)


def geometric_mean(values: Sequence[float]) -> float:
    """Of one positive number or more."""
    return math.exp(math.fsum(map(math.log, values)) / len(values))
