"""Torch dialect to StableHLO, from text."""

from __future__ import annotations

import pytest
import torch

from fx_graphs import capture
from neuron_compile.lowering import TensorSpec, TorchProgram
from neuron_compile.lowering.diagnostics import ConversionFailure
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.lowering.stablehlo_text import stablehlo_text
from neuron_compile.lowering.to_stablehlo import to_stablehlo

VECTOR = TensorSpec((2,), "float32", (1,))


def torch_program(body: str, location: str = "n1") -> TorchProgram:
    return TorchProgram(
        f"""
func.func @main(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {{
  %y = {body} : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32> loc("{location}")
  return %y : !torch.vtensor<[2],f32>
}}
"""
    )


def test_program_has_types_text_and_no_custom_calls() -> None:
    lowered = to_stablehlo(torch_program("torch.aten.sin %x"))
    assert lowered.inputs == lowered.outputs == (VECTOR,)
    assert lowered.custom_calls == ()
    assert "stablehlo.sine" in stablehlo_text(lowered.stablehlo)


def test_kernels_to_register_before_loading_are_named() -> None:
    matrix = torch.eye(2)
    program = from_fx(capture(lambda x: torch.linalg.cholesky_ex(x).L, matrix)).program
    assert to_stablehlo(program).custom_calls == ("lapack_spotrf_ffi",)


def test_equal_programs_give_equal_bytes() -> None:
    program = torch_program("torch.aten.tanh %x")
    assert to_stablehlo(program) == to_stablehlo(program)


def test_digest_depends_on_what_is_computed_and_not_on_node_numbers() -> None:
    one = to_stablehlo(torch_program("torch.aten.sin %x", "n1"))
    renumbered = to_stablehlo(torch_program("torch.aten.sin %x", "n7"))
    other = to_stablehlo(torch_program("torch.aten.cos %x", "n1"))
    assert one.digest == renumbered.digest
    assert one.stablehlo != renumbered.stablehlo
    assert one.digest != other.digest


def test_what_is_left_is_stablehlo_alone() -> None:
    text = stablehlo_text(to_stablehlo(torch_program("torch.aten.erf %x")).stablehlo)
    for dialect in ("chlo.", "arith.", "torch.", "tensor.cast", "math."):
        assert dialect not in text


def test_refused_operation_is_blamed_on_its_node() -> None:
    program = torch_program('torch.operator "torch.mylib.cube"(%x)')
    text = program.module.replace(
        ": !torch.vtensor<[2],f32> ->", ": (!torch.vtensor<[2],f32>) ->", 1
    )
    with pytest.raises(ConversionFailure) as raised:
        to_stablehlo(TorchProgram(text))
    assert [(node.number, node.operation) for node in raised.value.nodes] == [(1, "mylib.cube")]


def test_module_without_main_is_refused() -> None:
    with pytest.raises(ConversionFailure, match="main"):
        to_stablehlo(TorchProgram("func.func @other() { return }"))
