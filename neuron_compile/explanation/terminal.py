"""An explanation as text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from neuron_compile.explanation.findings import DeviceVerdict, Explanation, GraphFindings
from neuron_compile.explanation.quantities import bytes_text, count_text

_SHOWN_PLACES: Final = 2


def as_text(found: Explanation) -> str:
    """The whole report: verdict, obstacles, graph breaks, each graph's operators."""
    return "\n".join(_lines(found))


def headline(found: Explanation) -> str:
    """The verdict in a sentence."""
    count = sum(1 for _ in found.obstacles())
    if found.is_ok:
        return f"{found.model} can be compiled for {found.target}."
    if not found.graphs and not count:
        return f"{found.model} has nothing to compile: no graph was captured."
    noun = "obstacle" if count == 1 else "obstacles"
    return f"{found.model} cannot be compiled for {found.target}: {count} {noun}."


def _lines(found: Explanation) -> Iterator[str]:
    yield headline(found)
    yield ""
    yield f"parameters   {found.parameter_count:,} in {bytes_text(found.parameter_bytes)}"
    yield f"buffers      {bytes_text(found.buffer_bytes)}"
    yield f"activations  {bytes_text(found.saved_bytes)} kept for the backward pass"
    yield f"FLOPs        {count_text(found.flops)} a step"
    yield f"graphs       {len(found.graphs)}, graph breaks {len(found.breaks)}"
    for obstacle in found.obstacles():
        yield ""
        yield f"  {obstacle.what}"
        parts = ("at", obstacle.where), ("Why:", obstacle.why), ("Try:", obstacle.way_out)
        for label, text in parts:
            if text:
                yield f"    {label:<5}" + text.replace("\n", "\n         ")
    for broken in found.breaks:
        yield ""
        yield f"  graph break  {broken.source or ''}".rstrip()
        yield "    " + broken.reason.replace("\n", "\n    ")
    for graph in found.graphs:
        yield ""
        yield from _graph(graph)


def _graph(graph: GraphFindings) -> Iterator[str]:
    yield (
        f"{graph.name}: {count_text(graph.flops)} FLOPs, "
        f"inputs {bytes_text(graph.input_bytes)}, results {bytes_text(graph.output_bytes)}, "
        f"StableHLO {bytes_text(graph.stablehlo_bytes)}"
    )
    if graph.verdict:
        yield "  " + verdict_text(graph.verdict)
    if graph.demoted:
        yield f"  computes {len(graph.demoted)} operations in float32 that were written in float64"
    rows = [
        (
            operation.operator,
            str(operation.count),
            operation.route,
            "; ".join(f"{place.file}:{place.line}" for place in operation.places[:_SHOWN_PLACES])
            + (" ..." if len(operation.places) > _SHOWN_PLACES else ""),
        )
        for operation in graph.operations
    ]
    yield from _table(("operator", "nodes", "route", "lines"), rows)


def verdict_text(verdict: DeviceVerdict) -> str:
    """One line about a program and a device."""
    state = f"{len(verdict.refusals)} refused" if verdict.refusals else "legal"
    rewritten = sum(count for _, count in verdict.rewritten)
    return (
        f"{verdict.target}: {state}, {rewritten} rewritten to equal forms, at most "
        f"{bytes_text(verdict.peak_bytes)} of {bytes_text(verdict.memory_bytes)} "
        f"({verdict.memory_share:.1%})"
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  " + "  ".join(cells).rstrip()
