"""An HLO protobuf read without XLA: the fields of `hlo.proto` that the stand-in compiler looks at.

Shares no code with the package.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

TYPES = {
    1: "PRED", 2: "S8", 3: "S16", 4: "S32", 5: "S64", 6: "U8", 7: "U16", 8: "U32", 9: "U64",
    10: "F16", 11: "F32", 12: "F64", 13: "TUPLE", 15: "C64", 16: "BF16", 18: "C128",
    19: "F8E5M2", 20: "F8E4M3FN", 21: "S4", 22: "U4", 23: "F8E4M3B11FNUZ", 24: "F8E5M2FNUZ",
    25: "F8E4M3FNUZ", 28: "F8E4M3", 29: "F8E3M4", 32: "F4E2M1FN", 33: "F8E8M0FNU",
}  # fmt: skip
SIZES = {
    "PRED": 1, "S8": 1, "U8": 1, "S16": 2, "U16": 2, "F16": 2, "BF16": 2, "S32": 4, "U32": 4,
    "F32": 4, "S64": 8, "U64": 8, "F8E5M2": 1, "F8E4M3": 1, "F8E4M3FN": 1,
}  # fmt: skip


def read_fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Field numbers with ints (varints) or bytes (all else). ValueError if malformed."""
    view, at = memoryview(data), 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            if at >= len(view):
                raise ValueError("truncated varint")
            byte = view[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(view):
        tag = number()
        kind = tag & 7
        if kind == 0:
            yield tag >> 3, number()
            continue
        if kind not in (1, 2, 5) or tag < 8:
            raise ValueError(f"bad tag {tag}")
        size = {1: 8, 5: 4}.get(kind) or 0
        if kind == 2:
            size = number()
        if at + size > len(view):
            raise ValueError("truncated field")
        yield tag >> 3, bytes(view[at : at + size])
        at += size


@dataclass
class Shape:
    element: str = ""
    sizes: list[int] = field(default_factory=list)
    is_dynamic: bool = False
    parts: list[Shape] = field(default_factory=list)

    def text(self) -> str:
        return f"{self.element.lower()}[{','.join(map(str, self.sizes))}]"


@dataclass
class Instruction:
    name: str = ""
    opcode: str = ""
    shape: Shape = field(default_factory=Shape)
    id: int = 0
    operands: list[int] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    fields: dict[int, list[Any]] = field(default_factory=dict)

    def first(self, number: int, default: Any = None) -> Any:
        return self.fields.get(number, [default])[0]


@dataclass
class Computation:
    id: int = 0
    root: int = 0
    instructions: dict[int, Instruction] = field(default_factory=dict)


@dataclass
class Module:
    name: str = ""
    entry: int = 0
    computations: dict[int, Computation] = field(default_factory=dict)
    parameters: list[Shape] = field(default_factory=list)
    results: list[Shape] = field(default_factory=list)


def read_numbers(value: Any) -> list[int]:
    if isinstance(value, int):
        return [value]
    numbers, current, shift = [], 0, 0
    for byte in value:
        current |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(current)
            current = shift = 0
    return numbers


def read_shape(data: bytes) -> Shape:
    shape = Shape()
    for number, value in read_fields(data):
        if number == 2:
            shape.element = TYPES.get(value, f"TYPE{value}")
        elif number == 3:
            shape.sizes += read_numbers(value)
        elif number == 4:
            shape.parts.append(read_shape(value))
        elif number == 6:
            shape.is_dynamic = any(read_numbers(value))
    return shape


def read_instruction(data: bytes) -> Instruction:
    found = Instruction()
    for number, value in read_fields(data):
        found.fields.setdefault(number, []).append(value)
        if number == 1:
            found.name = value.decode()
        elif number == 2:
            found.opcode = value.decode()
        elif number == 3:
            found.shape = read_shape(value)
        elif number == 35:
            found.id = value
        elif number == 36:
            found.operands += read_numbers(value)
        elif number == 38:
            found.calls += read_numbers(value)
    return found


def read_computation(data: bytes) -> Computation:
    computation = Computation()
    for number, value in read_fields(data):
        if number == 2:
            instruction = read_instruction(value)
            computation.instructions[instruction.id] = instruction
        elif number == 5:
            computation.id = value
        elif number == 6:
            computation.root = value
    return computation


def read_module(data: bytes) -> Module:
    """The module, with every id resolved; a ValueError says what is wrong with it."""
    module = Module()
    for number, value in read_fields(data):
        if number == 1:
            module.name = value.decode()
        elif number == 3:
            computation = read_computation(value)
            module.computations[computation.id] = computation
        elif number == 4:
            signature = [entry for entry in read_fields(value) if entry[0] < 3]
            shapes = [(inner, read_shape(content)) for inner, content in signature]
            module.parameters = [shape for inner, shape in shapes if inner == 1]
            (result,) = (shape for inner, shape in shapes if inner == 2)
            module.results = result.parts if result.element == "TUPLE" else [result]
        elif number == 6:
            module.entry = value
    check(module)
    return module


def check(module: Module) -> None:
    if module.entry not in module.computations:
        raise ValueError("no entry computation")
    largest = 2**31 - 1
    for computation in module.computations.values():
        known = computation.instructions
        if computation.root not in known:
            raise ValueError(f"computation {computation.id} has no root")
        for instruction in known.values():
            if instruction.id > largest:
                raise ValueError(f"instruction id {instruction.id} exceeds 32 bits")
            if not set(instruction.operands) <= set(known):
                raise ValueError(f"{instruction.name} has an unknown operand")
            if not set(instruction.calls) <= set(module.computations):
                raise ValueError(f"{instruction.name} calls an unknown computation")
