"""Results as text: Markdown that can be read as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.backends import BACKENDS
from benchmarks.comparison import Quantity, by_round, fact, over_best_peer, time_of, when
from benchmarks.names import PROCESS_PEAK, START
from benchmarks.results import Results
from benchmarks.statistics import Ratio, summarize
from benchmarks.table import table


def report(results: Results) -> str:
    """The machine, times, starts, memory, and what could not be measured."""
    sections = [_about(results), _times(results), _starts(results), _peaks(results)]
    sections.append(_failures(results))
    return "\n\n".join(section for section in sections if section)


def _about(results: Results) -> str:
    about = results.about
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    rounds = 1 + max((entry.round for entry in results.entries), default=0)
    return (
        f"{about['measured']}, {about['cores']} cores of {about['processor']}, load "
        f"{about['load_before']:.1f} before and {about.get('load_after', 0):.1f} after; {versions}."
        f"\n{rounds} rounds; medians, with the interquartile range as a percentage; ratios are "
        "formed within a round, above 1 where we are ahead."
    )


def _used(results: Results) -> list[str]:
    present = {entry.backend for entry in results.entries}
    return [name for name in BACKENDS if name in present]


def _times(results: Results) -> str:
    backends = _used(results)
    rows = []
    for case in results.cases():
        for series in _series(results, case):
            cells = [_time_cell(results, case, backend, series) for backend in backends]
            rows.append([case, series, *cells, *_ratio_cells(results, case, time_of(series))])
    heading = ["case", "series", *(f"{name}, ms" for name in backends), "best peer", "rounds"]
    return "### Times\n\n" + table(heading, rows) if rows else ""


def _series(results: Results, case: str) -> list[str]:
    names: dict[str, None] = {}
    for entry in results.entries:
        if entry.case == case:
            names.update(dict.fromkeys(entry.measurement.series))
    return [name for name in names if name != START]


def _time_cell(results: Results, case: str, backend: str, series: str) -> str:
    samples = [
        sample
        for entry in results.of(case, backend)
        if series in entry.measurement.series
        for sample in entry.measurement.series[series].wall
    ]
    if not samples:
        return "-"
    summary = summarize(samples)
    return f"{1e3 * summary.median:.4g} ±{100 * summary.spread:.0f}%"


def _ratio_cells(results: Results, case: str, quantity: Quantity) -> tuple[str, str]:
    ratio = over_best_peer(results, case, quantity)
    return (f"{ratio.median:.2f}", _range(ratio)) if ratio else ("-", "-")


def _range(ratio: Ratio) -> str:
    return f"{ratio.low:.2f} to {ratio.high:.2f}"


def _starts(results: Results) -> str:
    cold, warm = (when(is_cold, time_of(START)) for is_cold in (True, False))
    return _section(
        "Starts", results, [("cold, s", cold), ("warm, s", warm)], lambda value: f"{value:.2f}"
    )


def _peaks(results: Results) -> str:
    modes = dict.fromkeys(
        name
        for entry in results.entries
        for name in entry.measurement.facts
        if name.startswith("peak_bytes ") and name != PROCESS_PEAK
    )
    quantities = [(name.partition(" ")[2], fact(name)) for name in modes]
    quantities.append(("with compiling", fact(PROCESS_PEAK)))
    return _section("Peak memory, MB", results, quantities, lambda value: f"{value / 1e6:.0f}")


def _section(
    title: str,
    results: Results,
    quantities: list[tuple[str, Quantity]],
    text: Callable[[float], str],
) -> str:
    """One row for each case and quantity, one column for each backend."""
    backends = _used(results)
    rows = []
    for case in results.cases():
        for name, quantity in quantities:
            cells = list(_cells(results, case, backends, quantity, text))
            if any(cell != "-" for cell in cells):
                rows.append([case, name, *cells, *_ratio_cells(results, case, quantity)])
    heading = ["case", "", *backends, "best peer", "rounds"]
    return f"### {title}\n\n{table(heading, rows)}" if rows else ""


def _cells(
    results: Results,
    case: str,
    backends: list[str],
    quantity: Quantity,
    text: Callable[[float], str],
) -> Iterator[str]:
    for backend in backends:
        values = list(by_round(results, case, backend, quantity).values())
        yield text(summarize(values).median) if values else "-"


def _failures(results: Results) -> str:
    lines = [
        f"- round {entry.round + 1}, {entry.case} under {entry.backend}: {entry.error}"
        for entry in results.entries
        if entry.error
    ]
    return "\n".join(["### Not measured", "", *lines]) if lines else ""
