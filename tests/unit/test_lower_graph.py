"""Lowering tries again with the function library, and blames what is left."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from fx_graphs import capture
from neuron_compile import LoweringError, UnsupportedOpError
from neuron_compile.lower_graph import lower_graph
from neuron_compile.lowering import TorchProgram, to_stablehlo
from neuron_compile.lowering.diagnostics import ConversionFailure, FailedNode
from neuron_compile.lowering.from_fx import FxLowering, from_fx
from neuron_compile.target import HOST

Lower = Callable[[TorchProgram], dict[str, bytes]]


@pytest.fixture
def imported() -> FxLowering:
    return from_fx(capture(lambda x: x.sin().exp(), torch.ones(2)))


def convert(program: TorchProgram) -> None:
    to_stablehlo.convert(program)


def number_of(imported: FxLowering, name: str) -> int:
    (number,) = (n for n, origin in enumerate(imported.origins) if origin.name == name)
    return number


def refusing(imported: FxLowering, *names: str) -> Lower:
    """A stage that refuses these nodes unless they have become library calls."""

    def lower(program: TorchProgram) -> dict[str, bytes]:
        left = [name for name in names if f"torch.aten.{name} " in program.module]
        if left:
            raise ConversionFailure(
                tuple(FailedNode(number_of(imported, n), n, "refused") for n in left), "refused"
            )
        return {"stablehlo": program.module.encode()}

    return lower


def test_graph_that_lowers_is_lowered_once(imported: FxLowering) -> None:
    calls: list[TorchProgram] = []

    def lower(program: TorchProgram) -> dict[str, bytes]:
        calls.append(program)
        return {"stablehlo": b"x"}

    assert lower_graph(imported, lower, convert, HOST) == {"stablehlo": b"x"}
    assert calls == [imported.program]


def test_operation_that_torch_mlir_refuses_is_tried_in_the_library(imported: FxLowering) -> None:
    blobs = lower_graph(imported, refusing(imported, "sin", "exp"), convert, HOST)
    text = blobs["stablehlo"].decode()
    assert text.count("stablehlo.custom_call") == 2


def test_failure_without_a_node_is_our_defect(imported: FxLowering) -> None:
    def lower(program: TorchProgram) -> dict[str, bytes]:
        raise ConversionFailure((), "something broke")

    with pytest.raises(LoweringError) as raised:
        lower_graph(imported, lower, convert, HOST)
    assert raised.value.what == "a graph could not be lowered to StableHLO"
    assert raised.value.why == "something broke"
    assert "NEURON_COMPILE_DEBUG_DIR" in raised.value.hint
    assert isinstance(raised.value.__cause__, ConversionFailure)


def test_failure_that_the_library_cannot_help_names_the_operation(imported: FxLowering) -> None:
    number = number_of(imported, "sin")

    def lower(program: TorchProgram) -> dict[str, bytes]:
        raise ConversionFailure((FailedNode(number, "sin", "never."),), "refused")

    with pytest.raises(UnsupportedOpError) as raised:
        lower_graph(imported, lower, convert, HOST)
    (operation,) = raised.value.operations
    assert (operation.operator, operation.node) == ("aten.sin.default", "sin")
    assert (operation.arguments, operation.reason) == ("float32[2]", "never.")
