"""The user's line behind a node."""

from __future__ import annotations

import pytest
from torch.fx import Graph, Node

from neuron_compile.lowering import SourceLine
from neuron_compile.lowering.source_lines import source_line

TRACE = """  File "/home/me/train.py", line 10, in main
    loss = model(x)
  File "/home/me/my model.py", line 41, in forward
    y = F.grid_sample(x, grid)
"""


def node(trace: str | None) -> Node:
    made = Graph().placeholder("x")
    if trace is not None:
        made.meta["stack_trace"] = trace
    return made


def test_innermost_frame_is_taken_with_its_text() -> None:
    expected = SourceLine("/home/me/my model.py", 41, "y = F.grid_sample(x, grid)")
    assert source_line(node(TRACE)) == expected


@pytest.mark.parametrize("trace", [None, "", "nothing like a frame"])
def test_node_without_frames_has_no_line(trace: str | None) -> None:
    assert source_line(node(trace)) is None


def test_frame_without_source_text_keeps_its_place() -> None:
    trace = '  File "<stdin>", line 3, in f\n'
    assert source_line(node(trace)) == SourceLine("<stdin>", 3, "")
