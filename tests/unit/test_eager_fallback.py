"""Operations in eager PyTorch, and what is between them compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from fx_graphs import capture
from neuron_compile import NeuronCompileWarning, UnsupportedOp, UnsupportedOpError
from neuron_compile.assembly import assemble
from neuron_compile.compile_report import REPORTER
from neuron_compile.eager_fallback import compile_around
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.options import CompileOptions
from neuron_compile.settings import Settings

LIBRARY = "neuron_fallback_tests"


@pytest.fixture(autouse=True)
def operators() -> Iterator[None]:
    """`halves` gives two results, `cube` one; nothing can lower either."""
    with torch.library._scoped_library(LIBRARY, "FRAGMENT") as library:
        library.define("cube(Tensor x) -> Tensor")
        library.impl("cube", lambda x: x**3, "CompositeExplicitAutograd")
        torch.library.register_fake(f"{LIBRARY}::cube", torch.empty_like, lib=library)
        library.define("halves(Tensor x) -> (Tensor, Tensor)")
        library.impl("halves", lambda x: (x / 2, -x / 2), "CompositeExplicitAutograd")
        torch.library.register_fake(
            f"{LIBRARY}::halves", lambda x: (torch.empty_like(x), torch.empty_like(x)), lib=library
        )
        yield


def ops() -> Any:
    return getattr(torch.ops, LIBRARY)


FUNCTIONS: dict[str, Callable[[Tensor], Any]] = {
    "first": lambda x: ops().cube(x).sin(),
    "last": lambda x: ops().cube(x.sin()),
    "alone": lambda x: ops().cube(x),
    "between": lambda x: ops().cube(x.sin()) + x.cos(),
    "in a row": lambda x: ops().cube(ops().cube(x.sin())).cos(),
    "two results": lambda x: sum(ops().halves(x.sin())[0:1]) * 2 + ops().halves(x)[1],
    "unused result": lambda x: ops().halves(x.sin())[1].cos(),
    "used twice": lambda x: [y := ops().cube(x + 1), y.sin(), y + x],
    "input returned": lambda x: [x, ops().cube(x)],
    "random": lambda x: ops().cube(torch.rand_like(x)) * 0 + x,
}


def compile_with_fallback(module: torch.fx.GraphModule, folder: Path) -> tuple[CapturedGraph, Any]:
    graph = CapturedGraph("Net", GraphRole.INFERENCE, module)
    compiler = assemble(CompileOptions(fallback="eager"), Settings(cache_dir=folder))
    try:
        return graph, compiler.compile(graph)
    except UnsupportedOpError as error:
        return graph, compile_around(error, graph, compiler)


@pytest.mark.parametrize("case", FUNCTIONS)
def test_result_is_eagers_wherever_the_operation_stands(case: str, tmp_path: Path) -> None:
    function, x = FUNCTIONS[case], torch.tensor([0.5, -0.25])
    with pytest.warns(NeuronCompileWarning):
        graph, compiled = compile_with_fallback(capture(function, x), tmp_path)
    expected = function(x)
    results = compiled([x])
    for result, wanted in zip(
        results, expected if isinstance(expected, list) else [expected], strict=True
    ):
        torch.testing.assert_close(result, wanted)
    notes = [row.notes for row in REPORTER.report().graphs if row.number == graph.number]
    assert any(LIBRARY in note for note in notes[0])


def test_error_about_another_graph_is_raised_as_it_is(tmp_path: Path) -> None:
    graph = CapturedGraph("Net", GraphRole.INFERENCE, capture(torch.sin, torch.ones(2)))
    error = UnsupportedOpError([UnsupportedOp("aten.a", "no_such_node", "", "no.")])
    compiler = assemble(CompileOptions(), Settings(cache_dir=tmp_path))
    with pytest.raises(UnsupportedOpError) as raised:
        compile_around(error, graph, compiler)
    assert raised.value is error
