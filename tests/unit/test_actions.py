"""The two actions as functions of bytes, and what their keys are made of."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping

import pytest

from host_programs import program
from neuron_compile import actions
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.lowering import LibraryCall, LoweredProgram, TensorSpec, TorchProgram
from neuron_compile.target import HOST, TARGETS, Target

VECTOR = TensorSpec((2,), "float32", (1,))
CALL = LibraryCall("lib_sort", "aten.sort.default", "[]", (VECTOR,), (VECTOR, None))
TORCH = TorchProgram(
    """
func.func @main(%x: !torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {
  %y = torch.aten.sin %x : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32> loc("n1")
  return %y : !torch.vtensor<[2],f32>
}
"""
)


class Generator:
    """A code generator whose fingerprint a test decides."""

    def __init__(self, target: Target = HOST, version: bytes = b"1") -> None:
        self.target = target
        self.version = version

    def fingerprint(self) -> tuple[tuple[str, bytes], ...]:
        return (("tool", self.version),)

    def generate(self, program: LoweredProgram) -> Mapping[str, bytes]:
        return {"neff": program.stablehlo + self.version}


def test_torch_program_survives_encoding() -> None:
    given = TorchProgram("module {}", (CALL,))
    assert actions.decode_torch_program(actions.encode_torch_program(given)) == given


def test_lowered_program_survives_encoding() -> None:
    given = LoweredProgram(b"\x00\xff", (VECTOR,), (), "ab" * 32, ("lapack_x",))
    assert actions.decode_program(actions.encode_program(given)) == given


def test_key_of_lowering_changes_with_each_thing_that_enters() -> None:
    base = dict(actions.lower_key(TorchProgram("a", (CALL,))))
    for other in (
        TorchProgram("b", (CALL,)),
        TorchProgram("a", ()),
        TorchProgram("a", (dataclasses.replace(CALL, arguments="[1]"),)),
        TorchProgram("a", (dataclasses.replace(CALL, results=(VECTOR, VECTOR)),)),
    ):
        assert dict(actions.lower_key(other)) != base
    assert dict(actions.lower_key(TorchProgram("a", (CALL,)))) == base


def test_key_of_lowering_names_the_tools_and_our_own_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = dict(actions.lowering_tools())
    assert set(parts) == {"tool torch-mlir", "tool jax", "tool jaxlib", "lowering source"}
    assert parts["tool torch-mlir"] == b"20261001"
    actions.lowering_tools.cache_clear()
    monkeypatch.setattr(hashlib, "sha256", hashlib.sha512)
    edited = dict(actions.lowering_tools())
    actions.lowering_tools.cache_clear()
    assert edited["lowering source"] != parts["lowering source"]


def test_key_of_the_neff_has_the_program_target_and_fingerprint() -> None:
    one = program(digest="1" * 64)
    base = dict(actions.generate_key(one, Generator()))
    assert dict(actions.generate_key(program(digest="2" * 64), Generator())) != base
    assert dict(actions.generate_key(one, Generator(TARGETS["trn1"]))) != base
    assert dict(actions.generate_key(one, Generator(version=b"2"))) != base
    assert dict(actions.generate_key(one, Generator())) == base


def test_key_of_the_neff_does_not_depend_on_how_the_program_came_about() -> None:
    one = program()
    relocated = dataclasses.replace(one, stablehlo=one.stablehlo + b" ")
    assert actions.generate_key(one, Generator()) == actions.generate_key(relocated, Generator())


def test_actions_take_and_give_bytes_and_chain() -> None:
    lowered = actions.lower(actions.encode_torch_program(TORCH))
    assert all(type(blob) is bytes for blob in lowered.values())
    artifact = actions.generate(lowered, HostCodeGenerator())
    assert set(artifact) == {"neff", "manifest.json"}
    assert actions.lower(actions.encode_torch_program(TORCH)) == lowered
