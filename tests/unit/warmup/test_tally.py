"""Progress in numbers."""

from __future__ import annotations

from neuron_compile.warmup.job import State
from neuron_compile.warmup.tally import Tally
from warmup_jobs import job


def test_counts() -> None:
    jobs = [job(state=state) for state in State] + [job(state=State.CACHED)]
    tally = Tally(jobs, 2)
    assert tally.total == 6
    assert tally.ended == 4
    assert {state: tally.count(state) for state in State} == {
        State.WAITING: 1,
        State.COMPILING: 1,
        State.CACHED: 2,
        State.COMPILED: 1,
        State.FAILED: 1,
    }


def test_time_remaining_is_by_operations_and_width() -> None:
    done = job(state=State.COMPILED, seconds=20.0, node_count=10)
    left = [job(node_count=30), job(state=State.COMPILING, node_count=10)]
    cached = job(state=State.CACHED, node_count=1000)
    assert Tally([cached, *left], 2).seconds_remaining is None
    assert Tally([cached, done, *left], 2).seconds_remaining == 40.0
    assert Tally([done], 2).seconds_remaining == 0.0
