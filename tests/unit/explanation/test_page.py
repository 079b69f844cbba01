"""The page and the text, from findings made by hand."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from neuron_compile.codegen.legality.refusal import Refusal
from neuron_compile.errors import SourceLine, UnsupportedOp
from neuron_compile.explanation.findings import (
    DeviceVerdict,
    Explanation,
    GraphBreak,
    GraphFindings,
    Operation,
)
from neuron_compile.explanation.page import as_page
from neuron_compile.explanation.terminal import as_text, headline

LINE = SourceLine("/home/me/model.py", 41, "y = x @ x if x < 3 else '&'")
REFUSAL = Refusal("EVRF004", "stablehlo.fft", (3,), "no complex numbers", "use real parts.")
OTHER = Refusal("EVRF004", "stablehlo.add", (3,), "no complex numbers", "use real parts.")
VERDICT = DeviceVerdict(
    target="trn2",
    refusals=((REFUSAL, (LINE,)), (OTHER, (LINE,))),
    rewritten=(("EVRF029", 2),),
    undocumented=(("stablehlo.cbrt", 1),),
    element_types=(("f32", 7),),
    narrowed_count=3,
    operation_count=9,
    argument_bytes=1 << 30,
    result_bytes=1 << 20,
    peak_bytes=6 << 30,
    memory_bytes=24 << 30,
)


def findings(verdict: DeviceVerdict | None = VERDICT) -> Explanation:
    failure = UnsupportedOp(
        "aten.odd.default", "odd", "float32[2]", "<no lowering>", None, "drop it."
    )
    operations = (
        Operation("aten.mm.default", ("Torch-MLIR",), (), 3, 2_000_000, (LINE,)),
        Operation("aten.addmm.default", ("library", "none"), ("aten.mm.default",), 1, 0, ()),
    )
    graph = GraphFindings(
        "Net forward (graph 0)", "forward", operations, (failure,) if verdict else (), "",
        ("aten.sin.default",), 1024, 2048, 512, 4096, verdict,
    )  # fmt: skip
    breaks = (GraphBreak("print called\nExplanation: why", LINE),) if verdict else ()
    return Explanation("<Net>", "trn2", 1_500_000, 6_000_000, 0, (graph,), breaks)


class Checker(HTMLParser):
    """Holds that tags are balanced and that nothing is loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onclick"}
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_is_well_formed_and_needs_nothing_else() -> None:
    page = as_page(findings())
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert not checker.seen & {"script", "link", "img", "iframe"}
    assert "http" not in page
    assert "url(" not in page
    assert "prefers-color-scheme:dark" in page


def test_page_says_what_was_found_and_escapes_it() -> None:
    page = as_page(findings())
    for text in (
        "&lt;Net&gt; cannot be compiled for trn2: 2 obstacles.",
        "NCC_EVRF004  stablehlo.fft, stablehlo.add",
        "/home/me/model.py:41   y = x @ x if x &lt; 3 else &#x27;&amp;&#x27;",
        "&lt;no lowering&gt;", "drop it.", "model.py:41", "1.50 M", "2.00 M FLOPs", "6.00 GiB",
        "width:25.00%", "rewritten EVRF029 (2)", "documentation: cbrt",
        "3 values of 64-bit integers computed in 32 bits", "print called", "into aten.mm.default",
    ):  # fmt: skip
        assert text in page, text
    assert "<Net>" not in page


def test_page_of_a_model_that_is_fine_has_no_list_of_obstacles() -> None:
    page = as_page(findings(verdict=None))
    assert "can be compiled for trn2" in page
    assert "stands in the way" not in page
    assert "Graph breaks" not in page


def test_text_has_the_same() -> None:
    text = as_text(findings())
    assert text.startswith(headline(findings()))
    assert "  NCC_EVRF004  stablehlo.fft, stablehlo.add\n    at   /home/me/model.py:41" in text
    assert re.search(r"Why: +<no lowering>\n +Try: +drop it\.", text)
    assert re.search(r"aten\.mm\.default +3 +Torch-MLIR +/home/me/model\.py:41", text)
    assert "decomposition, library, none" in text
    assert (
        "trn2: 2 refused, 2 rewritten to equal forms, at most 6.00 GiB of 24.0 GiB (25.0%)" in text
    )
    assert str(findings()) == text


def test_nothing_captured_is_not_ok() -> None:
    nothing = Explanation("f", "host", 0, 0, 0, (), ())
    assert not nothing.is_ok
    assert "no graph was captured" in headline(nothing)
