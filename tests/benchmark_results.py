"""Results of benchmarks, made by hand."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.protocol import Measurement
from benchmarks.results import Entry, Results
from benchmarks.series import Series

ABOUT = {
    "measured": "2030-01-01T00:00:00+00:00",
    "cores": 2,
    "processor": "a processor",
    "load_before": 0.5,
    "load_after": 0.25,
    "versions": {"python": "3.11.0", "torch": "2.13.0"},
}


def entry(
    case: str,
    backend: str,
    round_: int = 0,
    *,
    facts: dict[str, float] | None = None,
    cold: bool = False,
    error: str = "",
    series: Mapping[str, float] | None = None,
    **seconds: float,
) -> Entry:
    """An entry whose series have one sample each, of so many seconds; `series` has those whose
    names are none of Python's."""
    samples = {**seconds, **(series or {})}
    made = {name: Series((value,), (value,)) for name, value in samples.items()}
    return Entry(case, backend, round_, cold, Measurement(made, facts or {}), error)


def results(*entries: Entry) -> Results:
    """Results of a machine that is none."""
    return Results(dict(ABOUT), list(entries))
