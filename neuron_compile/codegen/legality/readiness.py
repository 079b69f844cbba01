"""What a report about a program for a device says, as plain data."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from jaxlib.mlir import ir

from neuron_compile.codegen.legality.checks.memory import element_bytes
from neuron_compile.codegen.legality.device import Device
from neuron_compile.codegen.legality.legalize import legalize
from neuron_compile.codegen.legality.program_module import main_function, read_module, walk
from neuron_compile.codegen.legality.refusal import Refusal, Rewritten

# In the documentation's list of operators, its later release notes or its examples.
_NAMES: Final = """
    abs add all_gather all_reduce and atan2 batch_norm_grad batch_norm_inference
    batch_norm_training bitcast_convert broadcast_in_dim ceil clamp compare concatenate constant
    convert convolution cosine custom_call divide dot dot_general dynamic_slice
    dynamic_update_slice exponential floor gather get_tuple_element iota log maximum minimum
    multiply negate not or pad power reduce reduce_window reduce_scatter reshape return reverse rng
    rng_bit_generator rsqrt scatter select select_and_scatter shift_right_arithmetic
    shift_right_logical sign sine slice sqrt subtract tanh transpose tuple
"""
_DOCUMENTED: Final = {*(f"stablehlo.{name}" for name in _NAMES.split()), "chlo.top_k"}


@dataclass(frozen=True, slots=True)
class Readiness:
    """A verdict on one program for one device.

    `argument_bytes`, `result_bytes` and `peak_bytes` are of `main`; the last is the largest sum of
    values alive at one time if each operation writes its result to memory, an upper bound, since a
    compiler fuses. `undocumented_operators` are those that the documentation does not mention: the
    compiler may or may not have them. `element_types` counts values by type. `narrowed_count` is of
    the values of 64-bit integer type, where the device computes those in 32 bits.
    """

    device: Device
    refusals: tuple[Refusal, ...]
    rewritten: tuple[Rewritten, ...]
    float64_nodes: tuple[int, ...]
    operation_count: int
    element_types: tuple[tuple[str, int], ...]
    undocumented_operators: tuple[tuple[str, int], ...]
    narrowed_count: int
    argument_bytes: int
    result_bytes: int
    peak_bytes: int

    @property
    def is_ready(self) -> bool:
        """Whether nothing is known that would keep the program off the device."""
        return not self.refusals

    @property
    def memory_share(self) -> float:
        """`peak_bytes` over the device memory that one program has."""
        return self.peak_bytes / self.device.memory_bytes


def assess(program: bytes, device: Device) -> Readiness:
    """The verdict on a portable StableHLO artifact. Raises `CodegenError` if it is none."""
    legal = legalize(program, device)
    module = read_module(legal.stablehlo)
    with module.context:
        main = main_function(module).operation
        operations = list(walk(main))
        elements = Counter(
            str(ir.RankedTensorType(result.type).element_type)
            for operation in operations
            for result in operation.results
            if isinstance(result.type, ir.RankedTensorType)
        )
        names = Counter(str(operation.name) for operation in operations)
        unknown = {
            name: count
            for name, count in names.items()
            if name.startswith(("stablehlo.", "chlo.")) and name not in _DOCUMENTED
        }
        block = main.regions[0].blocks[0]
        returned = list(block.operations)[-1].operation
        return Readiness(
            device=device,
            refusals=legal.refusals,
            rewritten=legal.rewritten,
            float64_nodes=legal.demoted_nodes or (),
            operation_count=len(operations),
            element_types=tuple(sorted(elements.items())),
            undocumented_operators=tuple(sorted(unknown.items())),
            narrowed_count=0 if device.has_int64 else elements["i64"] + elements["ui64"],
            argument_bytes=sum(map(_bytes, block.arguments)),
            result_bytes=sum(map(_bytes, returned.operands)),
            peak_bytes=_peak_bytes(block),
        )


def _peak_bytes(block: Any) -> int:
    """The largest sum of live values over the block's operations, arguments included throughout."""
    operations = [child.operation for child in block.operations]
    last_use: dict[Any, int] = {}
    for position, operation in enumerate(operations):
        for inner in [operation, *walk(operation)]:
            for operand in inner.operands:
                last_use[operand] = position
    held = sum(map(_bytes, block.arguments))
    peak = held
    dying: dict[int, int] = {}
    for position, operation in enumerate(operations):
        for result in operation.results:
            held += _bytes(result)
            end = last_use.get(result, position)
            dying[end] = dying.get(end, 0) + _bytes(result)
        peak = max(peak, held)
        held -= dying.pop(position, 0)
    return peak


def _bytes(value: Any) -> int:
    if not isinstance(value.type, ir.RankedTensorType):
        return 0
    tensor = ir.RankedTensorType(value.type)
    if not tensor.has_static_shape:
        return 0
    return int(math.prod(tensor.shape)) * element_bytes(tensor.element_type)
