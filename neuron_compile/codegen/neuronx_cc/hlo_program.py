"""StableHLO to the HLO protobuf that neuronx-cc reads."""

from __future__ import annotations

from typing import Final

from jaxlib import _jax

from neuron_compile.codegen.neuronx_cc.wire_format import (
    BYTES,
    VARINT,
    Field,
    fields,
    message_of,
    packed,
    varint,
)
from neuron_compile.errors import CodegenError

# Field numbers of `xla/service/hlo.proto`.
_MODULE_COMPUTATIONS: Final = 3
_MODULE_ID: Final = 5
_MODULE_ENTRY_ID: Final = 6
_COMPUTATION_INSTRUCTIONS: Final = 2
_COMPUTATION_ID: Final = 5
_COMPUTATION_ROOT: Final = 6
_INSTRUCTION_ID: Final = 35
_INSTRUCTION_REFERENCES: Final = (36, 37)  # operands, control predecessors
_INSTRUCTION_CALLS: Final = 38


def to_hlo(stablehlo: bytes) -> bytes:
    """The serialized `HloModuleProto` of a portable StableHLO artifact.

    Instructions are named after the nodes they came from (`n12.1`). Their ids are small: XLA's own
    have a computation's number in the upper half of 64 bits, which compilers built on an XLA of
    before 2025 cannot read. Raises `CodegenError` if XLA cannot express the program.
    """
    try:
        computation = _jax.mlir.mlir_module_to_xla_computation(
            stablehlo, use_tuple_args=False, return_tuple=False
        )
        proto: bytes = computation.as_serialized_hlo_module_proto()
    except (RuntimeError, ValueError) as error:
        raise CodegenError(
            "a program could not be turned into HLO, which neuronx-cc reads",
            why=str(error).strip(),
            hint="report this with the debug folder of NEURON_COMPILE_DEBUG_DIR.",
        ) from error
    return renumbered(proto)


def renumbered(module: bytes) -> bytes:
    """The same HLO module with ids that count from 1 over all computations and instructions."""
    parts = list(fields(module))
    computations = [list(fields(_bytes(v))) for n, _, v in parts if n == _MODULE_COMPUTATIONS]
    instructions: dict[int, int] = {}
    bodies: dict[int, int] = {}
    for body in computations:
        for number, _, value in body:
            if number == _COMPUTATION_INSTRUCTIONS:
                old = _number(list(fields(_bytes(value))), _INSTRUCTION_ID)
                instructions[old] = len(instructions) + 1
    for body in computations:
        bodies[_number(body, _COMPUTATION_ID)] = len(instructions) + len(bodies) + 1

    def module_field(field: Field) -> Field:
        number, kind, value = field
        if number == _MODULE_COMPUTATIONS:
            body = map(computation_field, fields(_bytes(value)))
            return number, kind, message_of(body)
        return _mapped(field, bodies) if number == _MODULE_ENTRY_ID else field

    def computation_field(field: Field) -> Field:
        number, kind, value = field
        if number == _COMPUTATION_INSTRUCTIONS:
            return number, kind, message_of(map(instruction_field, fields(_bytes(value))))
        if number == _COMPUTATION_ID:
            return _mapped(field, bodies)
        return _mapped(field, instructions) if number == _COMPUTATION_ROOT else field

    def instruction_field(field: Field) -> Field:
        if field[0] in (_INSTRUCTION_ID, *_INSTRUCTION_REFERENCES):
            return _mapped(field, instructions)
        return _mapped(field, bodies) if field[0] == _INSTRUCTION_CALLS else field

    # XLA counts the modules of a process; equal programs have equal bytes without that.
    return message_of(module_field(part) for part in parts if part[0] != _MODULE_ID)


def _mapped(field: Field, ids: dict[int, int]) -> Field:
    number, kind, value = field
    if isinstance(value, int):
        return number, kind, ids[value]
    return number, kind, b"".join(varint(ids[old]) for old in packed(value))


def _number(parts: list[Field], wanted: int) -> int:
    for number, kind, value in parts:
        if number == wanted and kind == VARINT and isinstance(value, int):
            return value
    return 0


def _bytes(value: int | bytes) -> bytes:
    assert isinstance(value, bytes), f"an HLO message has a number where wire type {BYTES} belongs"
    return value
