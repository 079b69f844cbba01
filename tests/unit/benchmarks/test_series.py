from __future__ import annotations

import gc
from dataclasses import dataclass

import pytest

from benchmarks.series import Clock, Series


@dataclass
class Time:
    """Time that passes when a call says so; the processor works two thirds of it."""

    now: float = 0.0

    def clock(self) -> Clock:
        return Clock(lambda: self.now, lambda: self.now * 2 / 3)

    def taking(self, seconds: float) -> object:
        def call() -> None:
            self.now += seconds

        return call


def test_long_calls_are_samples_by_themselves() -> None:
    time = Time()
    series = time.clock().repeatedly(time.taking(0.25), seconds=1.0)  # type: ignore[arg-type]
    assert series.wall == pytest.approx([0.25] * 4)
    assert series.cpu == pytest.approx([0.25 * 2 / 3] * 4)


def test_three_samples_are_taken_however_long_they_last() -> None:
    time = Time()
    series = time.clock().repeatedly(time.taking(9.0), seconds=1.0)  # type: ignore[arg-type]
    assert len(series.wall) == 3


def test_short_calls_share_a_sample() -> None:
    time = Time()
    count = 0

    def call() -> None:
        nonlocal count
        count += 1
        time.now += 1e-4

    series = time.clock().repeatedly(call, seconds=0.004)
    assert series.median == pytest.approx(1e-4)
    # The first call only tells how many make a sample.
    assert count == 1 + 10 * len(series.wall)


def test_what_comes_before_is_not_timed() -> None:
    time = Time()
    before = time.taking(5.0)
    series = time.clock().repeatedly(
        time.taking(1e-5),  # type: ignore[arg-type]
        seconds=0.0,
        before=before,  # type: ignore[arg-type]
    )
    assert series.wall == pytest.approx([1e-5] * 3)
    assert time.now > 3 * 5.0


def test_the_collector_is_off_during_samples_and_on_again_after_an_error() -> None:
    states: list[bool] = []

    def call() -> None:
        states.append(gc.isenabled())
        if len(states) == 3:
            raise RuntimeError

    clock = Clock(iter(range(100)).__next__, lambda: 0.0)
    with pytest.raises(RuntimeError):
        clock.repeatedly(call, seconds=50.0)
    assert states == [True, False, False]
    assert gc.isenabled()


def test_json_gives_the_series_back() -> None:
    series = Series((1.0, 2.0), (0.5, 1.0))
    assert Series.from_json(series.to_json()) == series
    assert series.median == 1.5
