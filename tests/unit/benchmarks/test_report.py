from __future__ import annotations

from benchmark_results import entry, results
from benchmarks.report import report
from benchmarks.results import Results


def rows(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def measured() -> Results:
    return results(
        entry("mlp", "neuron", 0, cold=True, inference=0.01, start=8.0),
        entry("mlp", "eager", 0, cold=True, inference=0.02, start=1.0),
        entry("mlp", "neuron", 1, inference=0.01, start=2.0),
        entry("mlp", "eager", 1, inference=0.04, start=1.0),
        entry("mlp", "inductor", 1, error="it took too long"),
    )


def test_a_row_has_each_backends_median_and_the_ratio_to_the_best_peer() -> None:
    assert ["mlp", "inference", "10 ±0%", "30 ±33%", "-", "3.00", "2.00 to 4.00"] in rows(
        report(measured())
    )


def test_starts_are_cold_and_warm_and_not_among_the_times() -> None:
    table = rows(report(measured()))
    assert ["mlp", "cold, s", "8.00", "1.00", "-", "0.12", "0.12 to 0.12"] in table
    assert ["mlp", "warm, s", "2.00", "1.00", "-", "0.50", "0.50 to 0.50"] in table
    assert [row for row in table if row[1] == "start"] == []


def test_memory_is_in_megabytes() -> None:
    found = results(
        entry("mlp", "neuron", facts={"peak_bytes process": 3e8, "peak_bytes inference": 1e8}),
        entry("mlp", "inductor", facts={"peak_bytes process": 6e8}),
    )
    table = rows(report(found))
    assert ["mlp", "inference", "100", "-", "-", "-"] in table
    assert ["mlp", "with compiling", "300", "600", "2.00", "2.00 to 2.00"] in table


def test_failures_are_told() -> None:
    assert "- round 2, mlp under inductor: it took too long" in report(measured())


def test_begins_with_the_machine_and_its_load() -> None:
    first = report(measured()).splitlines()[0]
    assert "2 cores of a processor, load 0.5 before and 0.2 after" in first
    assert "torch 2.13.0" in first


def test_nothing_measured_is_a_report_too() -> None:
    assert rows(report(results())) == []
