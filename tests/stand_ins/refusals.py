"""What the stand-in compiler refuses: the documented error codes, looked for in HLO.

Written against the documentation and HLO, where the package looks at StableHLO.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from stand_ins.hlo_proto import Instruction, Module, read_fields, read_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

UNSUPPORTED = {"triangular-solve", "cholesky", "fft", "infeed", "outfeed", "send", "recv"}
FNUZ = {"F8E4M3FNUZ", "F8E4M3B11FNUZ", "F8E5M2FNUZ"}
INTEGERS = {"PRED", "S8", "S16", "S32", "S64", "U8", "U16", "U32", "U64"}
WIDE = {"S32", "S64", "U32", "U64"}
KNOWN_CALLS = re.compile(r"AwsNeuron|NeuronBoundaryMarker|ResizeNearest|ResizeBilinear")
GENERATIONS = {"trn1": 2, "trn1n": 2, "inf2": 2, "trn2": 3, "trn3": 4}


def window_of(instruction: Instruction) -> list[dict[int, int]]:
    """Each window dimension by field: 1 size, 2 stride, 5 window dilation, 6 base dilation."""
    data = instruction.first(15, b"")
    return [dict(read_fields(value)) for number, value in read_fields(data) if number == 1]


def refuse(module: Module, target: str, downcasts: set[str]) -> Iterator[tuple[str, str, str]]:
    """Code, message and instruction for everything that is refused."""
    generation = GENERATIONS[target]
    for computation in module.computations.values():
        for instruction in computation.instructions.values():
            operands = [computation.instructions[i] for i in instruction.operands]
            found = [
                *types(instruction, target, generation),
                *operators(instruction, target),
                *windows(instruction, operands),
                *indexing(instruction, operands, module, generation, downcasts),
                *integers(instruction, operands, generation, downcasts),
            ]
            for code, message in found:
                yield code, message, f"%{instruction.name} = {instruction.shape.text()}"


def types(instruction: Instruction, target: str, generation: int) -> Iterator[tuple[str, str]]:
    for shape in instruction.shape.parts or [instruction.shape]:
        if shape.is_dynamic:
            yield "EMOD025", "Dynamic shape is not supported"
        if shape.element in {"C64", "C128"}:
            yield "EVRF004", "Complex data types are not supported"
        if shape.element in FNUZ:
            yield "EVRF005", f"{shape.element} is not supported"
        if shape.element == "F8E4M3FN" and generation <= 3:
            yield "EVRF051", f"F8E4M3FN is not supported on {target}"
        if shape.element in {"F64", "F4E2M1FN", "S4", "U4"}:
            yield "ESPP004", f"{shape.element} is not supported"
        if shape.element == "F8E8M0FNU":
            yield "ESPP047", f"{shape.element} is not supported"


def operators(instruction: Instruction, target: str) -> Iterator[tuple[str, str]]:
    if instruction.opcode in UNSUPPORTED:
        yield "EVRF001", f"Operator {instruction.opcode} is not supported"
    if instruction.opcode == "sort":
        yield "EVRF029", f"Operation sort is not supported on {target}"
    if instruction.opcode == "custom-call":
        name = instruction.first(28, b"").decode()
        if not KNOWN_CALLS.match(name):
            yield "EVRF015", f"Custom call target {name} is not recognized"


def windows(instruction: Instruction, operands: list[Instruction]) -> Iterator[tuple[str, str]]:
    if instruction.opcode not in {"convolution", "reduce-window"}:
        return
    dimensions = window_of(instruction)
    strided = any(d.get(2, 1) > 1 for d in dimensions)
    window_dilated = any(d.get(5, 1) > 1 for d in dimensions)
    base_dilated = any(d.get(6, 1) > 1 for d in dimensions)
    if instruction.opcode == "convolution":
        if base_dilated and window_dilated:
            yield "EVRF010", "simultaneous input and kernel dilation"
        if base_dilated and strided:
            yield "EVRF011", "strided convolution with dilated input"
        return
    if base_dilated:
        yield "EVRF017", "reduce-window with base dilation"
    if window_dilated:
        yield "EVRF018", "reduce-window with window dilation"
    if len(operands) != 2:
        yield "EVRF019", "reduce-window with other than 2 operands"


def indexing(
    instruction: Instruction,
    operands: list[Instruction],
    module: Module,
    generation: int,
    downcasts: set[str],
) -> Iterator[tuple[str, str]]:
    opcode = instruction.opcode
    if opcode == "rng-bit-generator" and instruction.first(70, 0):
        yield "EVRF006", "RngBitGenerator with another algorithm than RNG_DEFAULT"
    if opcode == "topk" and operands[0].shape.element in INTEGERS:
        yield "EVRF013", "TopK does not support integers"
    if opcode == "gather" and counts_too_far(operands):
        yield "EVRF056", "gather indices out of bounds"
    if opcode != "scatter":
        return
    if counts_too_far(operands):
        yield "EVRF031", "scatter indices out of bounds"
    body = module.computations[instruction.calls[0]]
    combines = body.instructions[body.root].opcode not in {"parameter", "tuple"}
    element = instruction.shape.element
    if combines and element in INTEGERS and ("scatter" not in downcasts or element not in WIDE):
        yield "EVRF060" if element in WIDE else "EVRF016", "scatter of integers"


def counts_too_far(operands: list[Instruction]) -> bool:
    """Whether an iota indexes the first dimension beyond its end."""
    data, indices = operands[:2]
    return indices.opcode == "iota" and indices.shape.sizes[0] > data.shape.sizes[0]


def integers(
    instruction: Instruction, operands: list[Instruction], generation: int, downcasts: set[str]
) -> Iterator[tuple[str, str]]:
    opcode, element = instruction.opcode, instruction.shape.element
    if opcode == "shift-right-arithmetic" and element not in {"S32", "U32", "F32"}:
        yield "EVRF022", "arithmetic shift on other than 32 bits"
    if opcode == "dot" and "dot" not in downcasts:
        refused = WIDE if generation >= 3 else {"S64", "U64"}
        if operands[0].shape.element in refused:
            yield "EVRF035", "dot of integers"
    if generation >= 3:
        if opcode == "power" and element in {"S64", "U64"} and "pow" not in downcasts:
            yield "EVRF062", "power of 64-bit integers"
        if opcode == "all-reduce" and element in WIDE and "all_reduce" not in downcasts:
            yield "EVRF061", "all-reduce of integers"
        if opcode == "reduce-scatter" and element in WIDE and "reduce_scatter" not in downcasts:
            yield "EVRF063", "reduce-scatter of integers"
    is_unsigned = opcode == "constant" and element == "U64"
    if is_unsigned and any(number > 0xFFFFFFFF for number in literal_numbers(instruction)):
        yield "ESFH002", "unsigned 64-bit constant does not fit 32 bits"


def literal_numbers(instruction: Instruction) -> list[int]:
    """The numbers of a `u64` literal."""
    numbers: list[int] = []
    for number, value in read_fields(instruction.first(8, b"")):
        if number == 7:
            numbers += read_numbers(value)
    return numbers
