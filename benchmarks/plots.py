"""Results as pictures. Needs matplotlib (the extra `bench`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from benchmarks import names
from benchmarks.backends import EAGER, INDUCTOR
from benchmarks.cases.listing import START
from benchmarks.comparison import Quantity, by_round, fact, over_best_peer, time_of, when
from benchmarks.results import Results
from benchmarks.statistics import summarize
from benchmarks.workloads.listing import NAMES

_TITLES: Final = {
    names.INFERENCE: "Inference",
    names.FORWARD_BACKWARD: "Forward and backward",
    names.TRAIN: "Train step, eager optimizer",
    names.TRAIN_COMPILED: "Train step, compiled optimizer",
}
_COLORS: Final = {"neuron": "#c2410c", EAGER: "#9ca3af", INDUCTOR: "#1d4ed8", "openvino": "#15803d"}


def plot(results: Results, folder: Path) -> list[Path]:
    """Write `speed.svg`, `memory.svg` and `start.svg`, each if there is something to show."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    written = (
        _speed(results, folder / "speed.svg"),
        _bars(
            results,
            folder / "memory.svg",
            "Peak memory of a train step, GB",
            [(name, name, _scaled(fact(names.peak_of(names.TRAIN)), 1e-9)) for name in NAMES],
        ),
        _bars(
            results,
            folder / "start.svg",
            "To the first backward, s",
            [
                ("cold", START, when(True, time_of(names.START))),
                ("warm", START, when(False, time_of(names.START))),
            ],
        ),
    )
    return [path for path in written if path]


def _speed(results: Results, file: Path) -> Path | None:
    """A panel for each mode: how many times as fast as each peer, on a logarithmic scale."""
    from matplotlib import pyplot

    cases = [name for name in NAMES if name in results.cases()]
    if not cases:
        return None
    height = 1.2 + 0.35 * len(cases)
    figure, panels = pyplot.subplots(1, len(_TITLES), figsize=(12, height), sharey=True)
    for panel, (mode, title) in zip(panels, _TITLES.items(), strict=True):
        for offset, peer in ((-0.18, EAGER), (0.18, INDUCTOR)):
            for row, case in enumerate(cases):
                ratio = over_best_peer(results, case, time_of(mode), [peer])
                if ratio:
                    panel.errorbar(
                        ratio.median,
                        row + offset,
                        xerr=[[ratio.median - ratio.low], [ratio.high - ratio.median]],
                        fmt="o",
                        color=_COLORS[peer],
                        label=f"against {peer}" if row == 0 else None,
                    )
        panel.set_xscale("log", base=2)
        panel.axvline(1, color="black", linewidth=0.8)
        panel.set_title(title, fontsize=10)
        panel.set_yticks(range(len(cases)), cases)
        panel.set_xlabel("times as fast")
    panels[0].invert_yaxis()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower right", ncols=2, fontsize=8)
    return _write(figure, file)


def _bars(
    results: Results, file: Path, title: str, groups: Sequence[tuple[str, str, Quantity]]
) -> Path | None:
    """A bar for each group and backend; `groups` are a label, a case and a quantity each."""
    from matplotlib import pyplot

    heights = {
        (label, backend): summarize(list(values.values())).median
        for label, case, quantity in groups
        for backend in _COLORS
        if (values := by_round(results, case, backend, quantity))
    }
    labels = list(dict.fromkeys(label for label, _ in heights))
    backends = [name for name in _COLORS if any(backend == name for _, backend in heights)]
    if not labels:
        return None
    figure, panel = pyplot.subplots(figsize=(2 + 0.9 * len(labels), 3.2))
    width = 0.8 / len(backends)
    for number, backend in enumerate(backends):
        places = [i for i, label in enumerate(labels) if (label, backend) in heights]
        panel.bar(
            [place - 0.4 + (number + 0.5) * width for place in places],
            [heights[labels[place], backend] for place in places],
            width,
            color=_COLORS[backend],
            label=backend,
        )
    panel.set_xticks(range(len(labels)), labels, rotation=30, ha="right", fontsize=8)
    panel.set_title(title, fontsize=10)
    panel.legend(fontsize=8)
    return _write(figure, file)


def _scaled(quantity: Quantity, factor: float) -> Quantity:
    def scaled(*entry: object) -> float | None:
        value = quantity(*entry)  # type: ignore[arg-type]
        return None if value is None else value * factor

    return scaled


def _write(figure: object, file: Path) -> Path:
    from matplotlib import pyplot

    figure.savefig(file, bbox_inches="tight", metadata={"Date": None})  # type: ignore[attr-defined]
    pyplot.close(figure)
    return file
