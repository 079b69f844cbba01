from __future__ import annotations

from benchmark_results import entry, results
from benchmarks.bars import BARS
from benchmarks.check import check


def test_tells_what_falls_short_and_what_was_not_measured() -> None:
    text = check(
        results(
            entry("mlp", "neuron", inference=1.0),
            entry("mlp", "eager", inference=1.25),
        )
    )
    lines = text.splitlines()
    # The workload meets its bar, the mean of this one workload does not.
    assert [line for line in lines if line.startswith("falls short")] == [
        "falls short   inference, times the best peer: at least 1.3; geometric mean of 1 has 1.25"
    ]
    assert sum(line.startswith("not measured") for line in lines) == len(BARS) - 2
    assert lines[-1] == f"1 of 2 measured bars met, {len(BARS) - 2} not measured"
