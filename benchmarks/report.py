"""Results as text."""

from __future__ import annotations

import statistics

from benchmarks.results import Results


def report(results: Results) -> str:
    """A line for each series and backend: the median of the rounds' medians."""
    lines = []
    for case in results.cases():
        for entry in (e for e in results.entries if e.case == case):
            for name, series in entry.measurement.series.items():
                milliseconds = 1e3 * statistics.median(series.wall)
                lines.append(f"{case:<14}{name:<22}{entry.backend:<10}{milliseconds:10.2f} ms")
    return "\n".join(lines)
