"""The table of what was compiled, in a terminal and in a notebook."""

from __future__ import annotations

import html.parser
from typing import Any

import torch

from fx_graphs import capture
from neuron_compile.compile_report import Report, Reporter
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.observe import Stage, StageEvent


def graph(model: str, role: GraphRole = GraphRole.FORWARD) -> CapturedGraph:
    return CapturedGraph(model, role, capture(lambda x: x.sin() + 1, torch.ones(2)))


def told(reporter: Reporter, subject: CapturedGraph, outcome: str = "produced") -> Report:
    reporter.stage_ended(StageEvent(subject, Stage.IMPORT, 0.25))
    reporter.stage_ended(StageEvent(subject, Stage.LOWER, 1.5, outcome, 70_000))
    reporter.stage_ended(StageEvent(subject, Stage.CODEGEN, 2.25, outcome, 1_234_567))
    reporter.stage_ended(StageEvent(subject, Stage.LOAD, 0.125))
    return reporter.report()


def test_terminal_table_is_aligned_and_complete() -> None:
    reporter = Reporter()
    subject = graph("Net")
    text = str(told(reporter, subject))
    heading, rule, row = text.splitlines()
    assert heading.split() == [
        "graph", "role", "nodes", "compiled", "import", "lower", "codegen", "load", "bytes", "note",
    ]  # fmt: skip
    assert row.split() == [
        str(subject.number), "Net", "forward", "2", "compiled", "0.25", "s", "1.50", "s", "2.25",
        "s", "0.12", "s", "1,234,567",
    ]  # fmt: skip
    columns = [
        index
        for index in range(len(rule))
        if rule[index] == "-" and (index == 0 or rule[index - 1] == " ")
    ]
    assert all(heading[index] != " " for index in columns)
    assert repr(reporter.report()) == text


def test_hits_read_as_cached_whether_local_or_remote() -> None:
    for outcome, word in (("hit", "cached"), ("remote hit", "cached"), ("uncached", "compiled")):
        (row,) = told(Reporter(), graph("Net"), outcome).graphs
        assert row.cells()[3] == word


def test_graph_that_failed_half_way_shows_dashes() -> None:
    reporter = Reporter()
    reporter.stage_ended(StageEvent(graph("Net"), Stage.IMPORT, 0.25))
    assert reporter.report().graphs[0].cells()[3:8] == ("-", "0.25 s", "-", "-", "-")


def test_rows_stand_in_the_order_of_graphs_and_carry_notes() -> None:
    reporter = Reporter()
    first, second = graph("First"), graph("Second", GraphRole.INFERENCE)
    told(reporter, second)
    reporter.note(first, "eager: a")
    reporter.note(first, "eager: b")
    rows = reporter.report().graphs
    assert [row.model for row in rows] == ["First", "Second"]
    assert rows[0].cells()[-1] == "eager: a; eager: b"


def test_report_is_a_snapshot() -> None:
    reporter = Reporter()
    before = reporter.report()
    told(reporter, graph("Net"))
    assert before.graphs == []


def test_empty_report_says_so() -> None:
    assert str(Reporter().report()) == "nothing has been compiled in this process"


class Table(html.parser.HTMLParser):
    """Reads the cells of a table and checks that tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.rows[-1][-1] += data


def test_notebook_table_has_the_same_cells_with_names_escaped() -> None:
    reporter = Reporter()
    report = told(reporter, graph("<script>&"))
    rows = Table(report._repr_html_()).rows
    assert rows[0][0] == "graph"
    assert rows[1] == list(report.graphs[0].cells())
