"""Which nodes are to blame for what Torch-MLIR said."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from torch_mlir import ir

from neuron_compile.lowering.diagnostics import (
    ConversionFailure,
    FailedNode,
    explain,
    node_number,
    unknown_operators,
)
from neuron_compile.lowering.torch_context import torch_context

UNKNOWN = """
func.func @main(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %0 = torch.operator "torch.mylib.cube"(%x)
    : (!torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> loc("n3")
  %1 = torch.aten.sin %0 : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32> loc("n4")
  %2 = torch.operator "torch.mylib.square"(%1)
    : (!torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> loc("n5")
  return %2 : !torch.vtensor<[2],f32>
}
"""


@dataclass
class Said:
    message: str
    location: str


class Refusal(Exception):
    def __init__(self, *said: Said) -> None:
        self.error_diagnostics = said
        super().__init__("refused")


def module(text: str = UNKNOWN) -> ir.Module:
    return ir.Module.parse(text, torch_context())


@pytest.mark.parametrize(
    ("location", "number"),
    [
        ('loc("n12")', 12),
        ('loc(callsite("n7" at "other"))', 7),
        ('loc("main.py":3:4)', None),
        ("loc(unknown)", None),
    ],
)
def test_number_is_read_out_of_a_location(location: str, number: int | None) -> None:
    assert node_number(location) == number


def test_all_unknown_operators_are_found_before_any_pass_runs() -> None:
    failed = unknown_operators(module())
    assert [(node.number, node.operation) for node in failed] == [
        (3, "mylib.cube"),
        (5, "mylib.square"),
    ]


def test_each_node_is_blamed_once_in_order_and_constants_never() -> None:
    error = Refusal(
        Said("failed to legalize operation 'torch.aten.b' that was\nmarked", 'loc("n9")'),
        Said("failed to legalize operation 'torch.constant.int'", 'loc("n1")'),
        Said("failed to legalize operation 'torch.aten.a'", 'loc("n2")'),
        Said("'torch.aten.a' op is wrong too", 'loc("n2")'),
        Said("something without a place", "loc(unknown)"),
    )
    failure = explain(error, module())
    assert isinstance(failure, ConversionFailure)
    assert failure.nodes == (
        FailedNode(2, "torch.aten.a", "failed to legalize operation 'torch.aten.a'"),
        FailedNode(9, "torch.aten.b", "failed to legalize operation 'torch.aten.b' that was"),
    )
    assert "something without a place" in str(failure)


def test_where_nothing_was_blamed_it_is_what_was_left_unconverted() -> None:
    failure = explain(Refusal(), module())
    assert [node.number for node in failure.nodes] == [3, 4, 5]
    assert str(failure) == "refused"
