"""Every row of the documented refusals: the code, and the node that it is about."""

from __future__ import annotations

from typing import Any

import pytest

from neuron_compile.codegen.legality.device import Device, device_of
from neuron_compile.codegen.legality.legalize import find_refusals, legalize
from neuron_compile.codegen.legality.refusal import IllegalProgramError
from neuron_compile.errors import CodegenError, SourceLine


def unary(kind: str, operation: str = "stablehlo.negate %x") -> str:
    return f"""func.func @main(%x: tensor<{kind}>) -> tensor<{kind}> {{
      %0 = {operation} : tensor<{kind}> #7
      return %0 : tensor<{kind}>
    }}"""


def collective(name: str, result: str, extra: str) -> str:
    return f"""func.func @main(%x: tensor<4xi32>) -> tensor<{result}xi32> {{
      %0 = "stablehlo.{name}"(%x) ({{
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %c = stablehlo.add %a, %b : tensor<i32>
          stablehlo.return %c : tensor<i32>
      }}) {{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>{extra}}}
        : (tensor<4xi32>) -> tensor<{result}xi32> #7
      return %0 : tensor<{result}xi32>
    }}"""


TRIANGULAR = """func.func @main(%a: tensor<3x3xf32>, %b: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true,
    unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}
    : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32> #7
  return %0 : tensor<3x3xf32>
}"""
CUSTOM = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.custom_call @lapack_spotrf_ffi(%x) : (tensor<3xf32>) -> tensor<3xf32> #7
  return %0 : tensor<3xf32>
}"""
TRN2 = device_of("trn2")
LATER = Device("later", 5, TRN2.core_memory_bytes, 2, has_int64=True)

ROWS = [
    ("EMOD025", unary("?x3xf32"), TRN2),
    ("EMOD025", unary("?xi8"), device_of("trn1")),
    ("EVRF001", TRIANGULAR, TRN2),
    ("EVRF001", unary("3x3xf32", "stablehlo.cholesky %x, lower = true"), TRN2),
    ("EVRF004", unary("4xcomplex<f32>"), TRN2),
    ("EVRF005", unary("4xf8E4M3FNUZ"), TRN2),
    ("EVRF005", unary("4xf8E5M2FNUZ"), device_of("trn3")),
    ("EVRF005", unary("4xf8E4M3B11FNUZ"), TRN2),
    ("EVRF051", unary("4xf8E4M3FN"), TRN2),
    ("EVRF051", unary("4xf8E4M3FN"), device_of("trn1")),
    ("EVRF052", unary("4xf8E4M3"), LATER),
    ("ESPP004", unary("4xf4E2M1FN"), TRN2),
    ("ESPP004", unary("4xi4"), TRN2),
    ("ESPP047", unary("4xf8E8M0FNU"), TRN2),
    ("EVRF015", CUSTOM, TRN2),
    ("EVRF061", collective("all_reduce", "4", ""), TRN2),
    ("EVRF063", collective("reduce_scatter", "2", ", scatter_dimension = 0 : i64"), TRN2),
    ("EVRF062", unary("4xi64", "stablehlo.power %x, %x"), device_of("trn2", native_int64=False)),
]


@pytest.mark.parametrize("code,text,device", ROWS, ids=lambda value: str(value)[:20])
def test_row_that_cannot_be_mended(program: Any, code: str, text: str, device: Device) -> None:
    found = legalize(program(text), device).refusals
    assert code in {refusal.code for refusal in found}
    assert {r.nodes for r in found if r.code == code} >= {(7,)}
    assert all(refusal.why and refusal.way_out for refusal in found)


@pytest.mark.parametrize(
    "kind,device",
    [
        ("4xf32", TRN2),
        ("4xbf16", TRN2),
        ("4xf16", TRN2),
        ("4xf8E5M2", TRN2),
        ("4xf8E4M3", TRN2),
        ("4xf8E4M3FN", device_of("trn3")),
        ("4xi64", TRN2),
        ("4xi32", device_of("trn1")),
        ("0x3xf32", TRN2),
    ],
    ids=str,
)
def test_supported_type_is_let_through(program: Any, kind: str, device: Device) -> None:
    found = legalize(program(unary(kind)), device)
    assert (found.refusals, found.rewritten) == ((), ())


def test_known_custom_call_is_let_through(program: Any) -> None:
    text = CUSTOM.replace("lapack_spotrf_ffi", "AwsNeuronGelu")
    assert legalize(program(text), TRN2).refusals == ()


def test_argument_is_refused_where_it_is_used(program: Any) -> None:
    text = """func.func @main(%z: tensor<2xcomplex<f32>>, %x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32> #4
      %1 = stablehlo.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32> #6
      %2 = stablehlo.add %0, %1 : tensor<2xf32> #8
      return %2 : tensor<2xf32>
    }"""
    found = {(r.code, r.operation): r.nodes for r in legalize(program(text), TRN2).refusals}
    assert found == {
        ("EVRF004", "func.func"): (4, 6),
        ("EVRF004", "stablehlo.real"): (4,),
        ("EVRF004", "stablehlo.imag"): (6,),
    }


def test_interface_larger_than_the_device_is_refused(program: Any) -> None:
    text = unary("4x1024x1024x1024xf32")
    (refusal,) = legalize(program(text), TRN2).refusals
    assert refusal.code == "EVRF009"
    assert "32.0 GiB" in refusal.why
    assert "24 GiB" in refusal.why
    half = unary("1x1024x1024x1024xf32")
    assert legalize(program(half), TRN2).refusals == ()
    assert legalize(program(half), device_of("trn2", logical_cores=1)).refusals == ()


def test_64_bit_constant_on_a_32_bit_device_is_refused(program: Any) -> None:
    text = """func.func @main(%x: tensor<2xi64>) -> tensor<2xi64> {
      %c = stablehlo.constant dense<-9223372036854775808> : tensor<2xi64> #7
      %0 = stablehlo.maximum %x, %c : tensor<2xi64>
      return %0 : tensor<2xi64>
    }"""
    (refusal,) = legalize(program(text), device_of("trn1")).refusals
    assert (refusal.code, refusal.nodes) == ("ESFH002", (7,))
    assert legalize(program(text), TRN2).refusals == ()


def test_everything_is_reported_at_once_with_source_lines(program: Any) -> None:
    text = """func.func @main(%x: tensor<3x3xf32>, %z: tensor<2xcomplex<f32>>)
        -> (tensor<3x3xf32>, tensor<2xcomplex<f32>>) {
      %0 = stablehlo.cholesky %x, lower = true : tensor<3x3xf32> #7
      %1 = stablehlo.custom_call @f(%0) : (tensor<3x3xf32>) -> tensor<3x3xf32> #9
      %2 = stablehlo.negate %z : tensor<2xcomplex<f32>> #11
      return %1, %2 : tensor<3x3xf32>, tensor<2xcomplex<f32>>
    }"""
    refusals = legalize(program(text), TRN2).refusals
    error = IllegalProgramError(refusals, target="trn2")
    assert {7, 9, 11} <= set(error.nodes)
    assert "node 9" in str(error)
    lines = {7: SourceLine("m.py", 4, "c = cholesky(x)"), 9: SourceLine("m.py", 5, "f(c)")}
    located = error.located(lines.get)
    assert "NCC_EVRF001  stablehlo.cholesky   m.py:4   c = cholesky(x)" in located.where
    assert "NCC_EVRF015  stablehlo.custom_call @f   m.py:5   f(c)" in located.where
    assert isinstance(located, CodegenError)
    assert "cannot be compiled for trn2" in located.what


def test_node_of_a_library_function_is_that_of_its_calls(program: Any) -> None:
    text = """func.func private @lib(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
      %0 = stablehlo.cholesky %x, lower = true : tensor<3x3xf32>
      return %0 : tensor<3x3xf32>
    }
    func.func @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
      %0 = func.call @lib(%x) : (tensor<3x3xf32>) -> tensor<3x3xf32> #4
      %1 = func.call @lib(%0) : (tensor<3x3xf32>) -> tensor<3x3xf32> #6
      return %1 : tensor<3x3xf32>
    }"""
    (refusal,) = find_refusals(program(text), TRN2)
    assert refusal.nodes == (4, 6)
    refusals = legalize(program(text), TRN2).refusals
    assert [refusal.nodes for refusal in refusals] == [(4,), (6,)]


def test_what_is_mended_is_still_found_in_the_original(program: Any) -> None:
    text = unary("4xi8", "stablehlo.shift_right_arithmetic %x, %x")
    artifact = program(text)
    (refusal,) = find_refusals(artifact, TRN2)
    assert (refusal.code, refusal.nodes) == ("EVRF022", (7,))
    assert legalize(artifact, TRN2).refusals == ()
    doubles = find_refusals(program(unary("4xf64")), TRN2)
    assert {refusal.code for refusal in doubles} == {"ESPP004"}


def test_rewrites_inside_loop_bodies_are_applied(program: Any) -> None:
    text = """func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %r:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4xi8>
      cond {
        %z = stablehlo.constant dense<0> : tensor<i32>
        %c = stablehlo.compare GT, %i, %z, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %o = stablehlo.constant dense<1> : tensor<i32>
        %s = stablehlo.constant dense<1> : tensor<4xi8>
        %w = stablehlo.shift_right_arithmetic %v, %s : tensor<4xi8> #7
        %j = stablehlo.subtract %i, %o : tensor<i32>
        stablehlo.return %j, %w : tensor<i32>, tensor<4xi8>
      }
      return %r#1 : tensor<4xi8>
    }"""
    found = legalize(program(text), TRN2)
    assert [(done.code, done.nodes) for done in found.rewritten] == [("EVRF022", (7,))]
    assert found.refusals == ()


def test_legal_program_is_unchanged_and_the_result_is_deterministic(program: Any) -> None:
    artifact = program(unary("4xf32"))
    first, second = (legalize(artifact, TRN2).stablehlo for _ in range(2))
    assert first == second
    assert find_refusals(first, TRN2) == ()


def test_bytes_that_are_no_program_are_refused() -> None:
    for data in (b"", b"not a program", b"ML\xefR" + bytes(50)):
        with pytest.raises(CodegenError, match=r"not a StableHLO artifact|no function called main"):
            legalize(data, TRN2)
