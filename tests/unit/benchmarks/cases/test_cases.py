"""Each case measures in this process what its documentation says."""

from __future__ import annotations

import pytest

from benchmarks.backends import EAGER, Backend
from benchmarks.cases.case import Context
from benchmarks.cases.listing import CASES, case_named
from benchmarks.cases.operators import OPERATORS
from benchmarks.names import MODES
from benchmarks.protocol import Measurement
from benchmarks.series import Clock


def measure(case: str, backend: str = EAGER) -> Measurement:
    return case_named(case).measure(Context(Backend(backend), "tiny", 0.0, Clock()))


@pytest.mark.slow
def test_a_workload_has_times_memory_and_operations_of_each_mode() -> None:
    measured = measure("mlp")
    assert set(measured.series) == {"start", *MODES}
    peaks = [measured.facts[f"peak_bytes {mode}"] for mode in MODES]
    assert max(peaks) <= measured.facts["peak_bytes process"]
    # Two layers of 8x8 on 4 rows; backward has two products more, but for the input's gradient.
    assert measured.facts["flops inference"] == 2 * 2 * 4 * 8 * 8
    assert measured.facts["flops forward_backward"] == 5 * 2 * 4 * 8 * 8


@pytest.mark.parametrize(
    "case, series",
    [
        ("dispatch", {"call"}),
        ("product", {"product"}),
        ("threads", {"alone", "after"}),
        pytest.param("operators", set(OPERATORS), marks=pytest.mark.slow),
    ],
)
def test_a_small_case_has_its_series(case: str, series: set[str]) -> None:
    assert set(measure(case).series) == series


def test_every_case_runs_under_ours() -> None:
    assert {name for name, row in CASES.items() if "neuron" in row.backends} == set(CASES)
