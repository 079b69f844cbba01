"""Progress as lines."""

from __future__ import annotations

import pytest

from neuron_compile.warmup.job import Job, State
from neuron_compile.warmup.plain_display import PlainDisplay, duration
from neuron_compile.warmup.tally import Tally
from warmup_jobs import job


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_lines_of_a_compilation() -> None:
    first, second = job("first"), job("second")
    lines: list[str] = []
    clock = Clock()
    display = PlainDisplay(Tally([first, second, job(state=State.CACHED)], 1), lines.append, clock)

    def change(changed: Job, state: State, seconds: float = 0.0) -> None:
        changed.state, changed.seconds = state, seconds
        display.changed(changed)

    change(first, State.COMPILING)
    clock.now = 45.0
    display.waiting([first])
    change(first, State.COMPILED, 60.0)
    change(second, State.COMPILING)
    second.error = ValueError("no such thing\nat all")
    change(second, State.FAILED, 2.0)
    assert lines == [
        "compiling first, 10 operations",
        "still compiling: first (45 s)",
        "[2/3] compiled first in 1 min 0 s, about 1 min 0 s remain",
        "compiling second, 10 operations",
        "[3/3] FAILED second after 2.0 s: no such thing",
    ]


@pytest.mark.parametrize(
    "seconds, text",
    [(0.04, "0.0 s"), (7.34, "7.3 s"), (59.4, "59 s"), (250, "4 min 10 s"), (7500, "2 h 5 min")],
)
def test_durations_are_in_two_units_at_most(seconds: float, text: str) -> None:
    assert duration(seconds) == text
