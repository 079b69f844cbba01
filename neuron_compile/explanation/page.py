"""An explanation as one HTML page that needs nothing beside it: no script, no font, no network."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

from neuron_compile import __version__
from neuron_compile.explanation.findings import Explanation, GraphFindings, Operation
from neuron_compile.explanation.page_style import STYLE
from neuron_compile.explanation.quantities import bytes_text, count_text
from neuron_compile.explanation.terminal import headline, verdict_text

_SHOWN_PLACES: Final = 6
_ROUTE_CLASSES: Final = {"Torch-MLIR": "direct", "library": "library", "none": "none"}


def as_page(found: Explanation) -> str:
    """The page as text, to be written as UTF-8."""
    return "".join(_page(found))


def _page(found: Explanation) -> Iterator[str]:
    title = f"{found.model} for {found.target}"
    yield (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
    )
    state = "ok" if found.is_ok else "bad"
    yield f"<header class='{state}'><p>neuron-compile explain</p><h1>{escape(headline(found))}</h1>"
    yield f"</header>{''.join(_cards(found))}{''.join(_obstacles(found))}{''.join(_breaks(found))}"
    for graph in found.graphs:
        yield from _graph(graph)
    yield (
        "<footer>Nothing was run on a device and no compiler of a device was called: refusals are "
        f"those that AWS documents. neuron-compile {escape(__version__)}</footer></main></body>"
        "</html>"
    )


def _cards(found: Explanation) -> Iterator[str]:
    forward = sum(graph.role != "backward" for graph in found.graphs)
    cards = [
        ("parameters", count_text(found.parameter_count), bytes_text(found.parameter_bytes)),
        ("activations", bytes_text(found.saved_bytes), "kept for the backward pass"),
        ("FLOPs a step", count_text(found.flops), "a multiply-add is two"),
        ("graphs", str(len(found.graphs)), f"{forward} forward"),
        ("graph breaks", str(len(found.breaks)), "Python runs in between"),
    ]
    verdicts = [graph.verdict for graph in found.graphs if graph.verdict]
    if verdicts:
        fullest = max(verdicts, key=lambda verdict: verdict.memory_share)
        most = f"of {bytes_text(fullest.memory_bytes)}, at most"
        cards.append(("device memory", bytes_text(fullest.peak_bytes), most))
    yield "<section class='cards'>"
    for label, number, note in cards:
        yield f"<div><span>{escape(label)}</span><b>{escape(number)}</b><i>{escape(note)}</i></div>"
    yield "</section>"


def _obstacles(found: Explanation) -> Iterator[str]:
    obstacles = list(found.obstacles())
    if not obstacles:
        return
    yield "<section><h2>What stands in the way</h2>"
    for obstacle in obstacles:
        yield f"<article class='obstacle'><h3>{escape(obstacle.what)}</h3>"
        if obstacle.where:
            yield f"<pre>{escape(obstacle.where)}</pre>"
        yield f"<p>{escape(obstacle.why)}</p>"
        if obstacle.way_out:
            yield f"<p class='try'>{escape(obstacle.way_out)}</p>"
        yield "</article>"
    yield "</section>"


def _breaks(found: Explanation) -> Iterator[str]:
    if not found.breaks:
        return
    yield "<section><h2>Graph breaks</h2>"
    for broken in found.breaks:
        first, _, rest = broken.reason.partition("\n")
        yield f"<article class='break'><h3>{escape(first)}</h3>"
        yield f"<pre>{escape(str(broken.source or 'no source line known'))}</pre>"
        if rest:
            yield f"<details><summary>what Dynamo says</summary><pre>{escape(rest)}</pre></details>"
        yield "</article>"
    yield "</section>"


def _graph(graph: GraphFindings) -> Iterator[str]:
    state = "ok" if graph.is_ok else "bad"
    yield f"<section><h2><span class='dot {state}'></span>{escape(graph.name)}</h2>"
    yield "<p class='facts'>"
    facts = [
        f"{count_text(graph.flops)} FLOPs",
        f"inputs {bytes_text(graph.input_bytes)}",
        f"results {bytes_text(graph.output_bytes)}",
        f"StableHLO {bytes_text(graph.stablehlo_bytes)}",
    ]
    yield " · ".join(map(escape, facts)) + "</p>"
    if graph.verdict:
        share = min(graph.verdict.memory_share, 1)
        yield f"<p class='facts'>{escape(verdict_text(graph.verdict))}</p>"
        yield f"<div class='bar'><i style='width:{share:.2%}'></i></div>"
        yield f"<p class='facts'>{escape('; '.join(_remarks(graph)))}</p>"
    yield "<div class='scroll'><table><thead><tr><th>operator</th><th>nodes</th><th>route</th>"
    yield "<th>FLOPs</th><th>lines</th></tr></thead><tbody>"
    for operation in graph.operations:
        yield from _row(operation)
    yield "</tbody></table></div></section>"


def _remarks(graph: GraphFindings) -> Iterator[str]:
    verdict = graph.verdict
    assert verdict is not None
    yield "dtypes " + ", ".join(f"{name} ({count})" for name, count in verdict.element_types)
    if verdict.rewritten:
        yield "rewritten " + ", ".join(f"{code} ({n})" for code, n in verdict.rewritten)
    if verdict.undocumented:
        names = ", ".join(name.partition(".")[2] for name, _ in verdict.undocumented)
        yield f"not mentioned in the compiler's documentation: {names}"
    if verdict.narrowed_count:
        yield f"{verdict.narrowed_count} values of 64-bit integers computed in 32 bits"
    if graph.demoted:
        yield f"{len(graph.demoted)} operations of float64 computed in float32"


def _row(operation: Operation) -> Iterator[str]:
    badges = "".join(
        f"<span class='badge {_ROUTE_CLASSES.get(route, 'nothing')}'>{escape(route)}</span>"
        for route in operation.routes
    )
    into = ""
    if operation.into:
        badges = f"<span class='badge decomposed'>decomposition</span>{badges}"
        into = f"<small>into {escape(', '.join(operation.into))}</small>"
    flops = count_text(operation.flops) if operation.flops else ""
    places = operation.places[:_SHOWN_PLACES]
    lines = "<br>".join(
        f"<code title='{escape(str(place))}'>{escape(Path(place.file).name)}:{place.line}</code>"
        for place in places
    )
    if len(operation.places) > len(places):
        lines += f"<br><small>and {len(operation.places) - len(places)} more lines</small>"
    yield (
        f"<tr><td><b>{escape(operation.operator)}</b>{into}</td><td class='number'>"
        f"{operation.count}</td><td>{badges}</td><td class='number'>{flops}</td>"
        f"<td class='lines'>{lines}</td></tr>"
    )
