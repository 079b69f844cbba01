from __future__ import annotations

from benchmarks.backends import Backend
from benchmarks.cases.case import Context
from benchmarks.cases.overhead import OverheadCase
from benchmarks.series import Clock
from benchmarks.workloads.listing import workload_named


def test_the_program_is_timed_through_us_and_alone() -> None:
    case = OverheadCase((workload_named("mlp"),))
    measured = case.measure(Context(Backend("neuron"), "tiny", 0.0, Clock()))
    assert set(measured.series) == {"compiled mlp", "direct mlp"}
    assert all(len(series.wall) == 3 for series in measured.series.values())
