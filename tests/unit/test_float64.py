"""float64: told once a graph, or refused."""

from __future__ import annotations

import warnings

import pytest
import torch

from fx_graphs import capture
from neuron_compile import Float64Warning, SourceLine, UnsupportedOpError
from neuron_compile.float64 import settle_float64
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.lowering.from_fx import NodeOrigin
from neuron_compile.options import CompileOptions


def origins(count: int) -> list[NodeOrigin]:
    return [
        NodeOrigin(f"add_{n}", "aten.add.Tensor", "float64[2]", SourceLine("m.py", n, "x + 1"))
        for n in range(count)
    ]


@pytest.fixture
def graph() -> CapturedGraph:
    return CapturedGraph("Net", GraphRole.FORWARD, capture(torch.sin, torch.ones(1)))


def test_graph_without_float64_is_not_spoken_of(graph: CapturedGraph) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        settle_float64(graph, [], CompileOptions())
        settle_float64(graph, [], CompileOptions(float64="error"))
    assert caught == []


def test_warning_shows_the_first_lines_and_how_many_more(graph: CapturedGraph) -> None:
    with pytest.warns(Float64Warning) as caught:
        settle_float64(graph, origins(5), CompileOptions())
    (warning,) = caught
    lines = str(warning.message).splitlines()
    assert lines[0].startswith(f"{graph.name} computes in float32 what was written in float64")
    assert lines[1] == "  aten.add.Tensor   m.py:0   x + 1"
    assert lines[4] == "  and 2 more"


def test_refusal_lists_every_operation(graph: CapturedGraph) -> None:
    with pytest.raises(UnsupportedOpError) as raised:
        settle_float64(graph, origins(5), CompileOptions(float64="error"))
    assert [op.node for op in raised.value.operations] == [f"add_{n}" for n in range(5)]
    assert 'float64 is refused by options={"float64": "error"}.' in str(raised.value)
