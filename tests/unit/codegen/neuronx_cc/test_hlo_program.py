"""The protobuf that the compiler reads: parses, verifies, small ids, nodes in the names."""

from __future__ import annotations

from typing import Any

import pytest
from jaxlib import xla_client

from neuron_compile.codegen.neuronx_cc.hlo_program import renumbered, to_hlo
from neuron_compile.codegen.neuronx_cc.wire_format import fields, message_of, packed, varint
from neuron_compile.errors import CodegenError
from stand_ins.fixtures import lowered
from stand_ins.hlo_proto import read_module

NESTED = """
func.func @main(%x: tensor<4x4xf32>) -> (tensor<f32>, tensor<4x4xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1]
    : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32> #3
  %n = stablehlo.constant dense<3> : tensor<i32>
  %w:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %o = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.compare GT, %i, %o, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %o = stablehlo.constant dense<1> : tensor<i32>
    %d = stablehlo.dot %v, %v : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> #9
    %j = stablehlo.subtract %i, %o : tensor<i32>
    stablehlo.return %j, %d : tensor<i32>, tensor<4x4xf32>
  }
  return %r, %w#1 : tensor<f32>, tensor<4x4xf32>
}
"""


def test_ids_count_from_one_and_all_references_hold() -> None:
    proto = to_hlo(lowered(NESTED).stablehlo)
    module = read_module(proto)  # resolves every id
    ids = [i for c in module.computations.values() for i in c.instructions]
    assert sorted([*ids, *module.computations]) == list(
        range(1, len(ids) + len(module.computations) + 1)
    )
    assert len(module.computations) == 4


def test_xla_reads_the_renumbered_module_as_the_same_program() -> None:
    proto = to_hlo(lowered(NESTED).stablehlo)
    text = xla_client.XlaComputation(proto).as_hlo_text()
    assert "while(" in text
    assert xla_client.XlaComputation(renumbered(proto)).as_hlo_text() == text
    assert renumbered(proto) == proto


def test_nodes_are_in_the_instructions_names() -> None:
    module = read_module(to_hlo(lowered(NESTED).stablehlo))
    names = {
        i.opcode: i.name for c in module.computations.values() for i in c.instructions.values()
    }
    assert names["dot"].startswith("n9")
    assert names["reduce"].startswith("n3")


def test_equal_programs_give_equal_protobufs() -> None:
    first, second = (to_hlo(lowered(NESTED).stablehlo) for _ in range(2))
    assert first == second


def test_program_that_xla_cannot_express_is_an_error() -> None:
    with pytest.raises(CodegenError, match="could not be turned into HLO"):
        to_hlo(b"nonsense")


@pytest.mark.parametrize(
    "data",
    [b"\x08", b"\x08\x80", b"\x0a\x05ab", b"\x00\x01", b"\x0b\x01", b"\x08" + b"\xff" * 11],
)
def test_malformed_message_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="no protocol buffer"):
        list(fields(data))


def test_message_round_trip() -> None:
    items: list[Any] = [(1, 0, 2**63), (2, 2, b"text"), (3, 5, b"1234"), (4, 1, b"12345678")]
    assert list(fields(message_of(items))) == items
    assert packed(b"".join(map(varint, [0, 127, 128, 2**40]))) == [0, 127, 128, 2**40]
