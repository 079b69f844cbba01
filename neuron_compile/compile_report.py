"""What this process has compiled, as a table for people."""

from __future__ import annotations

import html
from dataclasses import dataclass, field

from neuron_compile.cache.forks import Guard
from neuron_compile.graph import NamedGraph
from neuron_compile.observe import Stage, StageEvent

HEADINGS = (
    "graph",
    "role",
    "nodes",
    "compiled",
    "import",
    "lower",
    "codegen",
    "load",
    "bytes",
    "note",
)


@dataclass(slots=True)
class GraphReport:
    """One graph: seconds a stage, what the cache said, the artifact's bytes (NEFF and manifest),
    and notes, such as fallbacks."""

    number: int
    model: str
    role: str
    node_count: int
    seconds: dict[Stage, float] = field(default_factory=dict)
    outcomes: dict[Stage, str] = field(default_factory=dict)
    artifact_bytes: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def is_cached(self) -> bool:
        """Whether the NEFF came out of the cache."""
        return "hit" in self.outcomes.get(Stage.CODEGEN, "")

    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        seconds = [
            f"{self.seconds[stage]:.2f} s" if stage in self.seconds else "-" for stage in Stage
        ]
        outcome = self.outcomes.get(Stage.CODEGEN, "failed")
        return (
            f"{self.number} {self.model}",
            self.role,
            str(self.node_count),
            "cached" if self.is_cached else "compiled" if outcome != "failed" else "-",
            *seconds,
            f"{self.artifact_bytes:,}",
            "; ".join(self.notes),
        )


class Report:
    """Rows of graphs, in the order of compilation. Prints as text, and as HTML in a notebook."""

    def __init__(self, graphs: list[GraphReport]) -> None:
        self.graphs = graphs

    def __str__(self) -> str:
        if not self.graphs:
            return "nothing has been compiled in this process"
        rows = [HEADINGS, *(graph.cells() for graph in self.graphs)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([lines[0], rule, *lines[1:]])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{heading}</th>" for heading in HEADINGS)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in graph.cells()) + "</tr>"
            for graph in self.graphs
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Reporter:
    """The observer behind `report()`."""

    def __init__(self) -> None:
        self._lock = Guard()
        self._graphs: dict[int, GraphReport] = {}

    def stage_ended(self, event: StageEvent) -> None:
        """Enter a stage into its graph's row."""
        with self._lock:
            row = self._row(event.graph)
            row.seconds[event.stage] = event.seconds
            if event.outcome:
                row.outcomes[event.stage] = event.outcome
            if event.stage is Stage.CODEGEN:
                row.artifact_bytes = event.byte_count

    def note(self, graph: NamedGraph, text: str) -> None:
        """Add a remark to a graph's row."""
        with self._lock:
            self._row(graph).notes.append(text)

    def _row(self, graph: NamedGraph) -> GraphReport:
        if graph.number not in self._graphs:
            self._graphs[graph.number] = GraphReport(
                graph.number, graph.model, graph.role.value, graph.node_count
            )
        return self._graphs[graph.number]

    def report(self) -> Report:
        """What has been told so far."""
        with self._lock:
            return Report([self._graphs[number] for number in sorted(self._graphs)])


REPORTER = Reporter()


def report() -> Report:
    """A table of every graph that this process has compiled.

    One row a graph: model and role, FX calls, whether its NEFF was cached, seconds in each stage,
    the artifact's bytes, and remarks such as operations that fell back to eager.
    """
    return REPORTER.report()
