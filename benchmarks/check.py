"""What falls short of the bars."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars import BARS
from benchmarks.results import Results


def check(results: Results) -> str:
    """A line for each value that falls short and for each bar that was not measured, then how many
    bars are met."""
    lines = list(_lines(results))
    return "\n".join([*lines, _verdict(results)])


def _lines(results: Results) -> Iterator[str]:
    for bar in BARS:
        findings = list(bar.findings(results))
        if not findings:
            yield f"not measured  {bar}"
        for finding in findings:
            if not bar.is_met_by(finding.value):
                yield f"falls short   {bar}; {finding.subject} has {finding.value:.2f}"


def _verdict(results: Results) -> str:
    met = measured = 0
    for bar in BARS:
        values = [finding.value for finding in bar.findings(results)]
        measured += bool(values)
        met += bool(values) and all(map(bar.is_met_by, values))
    return f"{met} of {measured} measured bars met, {len(BARS) - measured} not measured"
