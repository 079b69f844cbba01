"""Gathers, scatters, top-k and random bits (NCC_EVRF006, EVRF013, EVRF016, EVRF031, EVRF056,
EVRF060)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.iota_indices import excesses
from neuron_compile.codegen.legality.program_module import node_numbers
from neuron_compile.codegen.legality.refusal import Refusal
from neuron_compile.codegen.legality.rewrites.float_integer_scatter import (
    refuses_integer_scatter,
    scatter_code,
)
from neuron_compile.codegen.legality.tensor_ops import element_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_compile.codegen.legality.device import Device


def check_indexing(operation: Any, device: Device) -> Iterator[Refusal]:
    """Indices, combinations or random bits that the compiler does not take."""
    check = {
        "stablehlo.gather": _gather,
        "stablehlo.scatter": _scatter,
        "chlo.top_k": _top_k,
        "stablehlo.rng_bit_generator": _random_bits,
    }.get(str(operation.name))
    if check is None:
        return
    nodes = node_numbers(operation)
    for code, why, way_out in check(operation, device):
        yield Refusal(code, str(operation.name), nodes, why, way_out)


def _gather(operation: Any, _device: Device) -> Iterator[tuple[str, str, str]]:
    numbers = stablehlo.GatherDimensionNumbers(operation.attributes["dimension_numbers"])
    for dimension, bound in excesses(operation, numbers, list(numbers.start_index_map)).items():
        yield (
            "EVRF056",
            f"a gather counts up to {bound} in dimension {dimension}, beyond its operand",
            "check that position embeddings are as many as positions.",
        )


def _scatter(operation: Any, device: Device) -> Iterator[tuple[str, str, str]]:
    numbers = stablehlo.ScatterDimensionNumbers(operation.attributes["scatter_dimension_numbers"])
    index_map = list(numbers.scattered_dims_to_operand_dims)
    for dimension, bound in excesses(operation, numbers, index_map).items():
        yield (
            "EVRF031",
            f"a scatter counts up to {bound} in dimension {dimension}, beyond its operand",
            "scatter no more rows than the result has.",
        )
    if refuses_integer_scatter(operation, device):
        width = element_of(operation.results[0]).width
        code = scatter_code(operation)
        way_out = "scatter floating-point numbers"
        if width >= 32:
            way_out += (
                ", or allow the loss of precision above 2**24 with NEURON_CC_FLAGS="
                "--implicit-integer-downcast=scatter"
            )
        yield (
            code,
            f"a scatter combines {width}-bit integers, which the device does in 32-bit "
            "floating point",
            way_out + ".",
        )


def _top_k(operation: Any, _device: Device) -> Iterator[tuple[str, str, str]]:
    if isinstance(element_of(operation.operands[0]), ir.IntegerType):
        yield (
            "EVRF013",
            "top-k of integers is not supported, and these are too many to be sorted by a network",
            "cast to float32 before torch.topk where that is exact (up to 2**24).",
        )


def _random_bits(operation: Any, _device: Device) -> Iterator[tuple[str, str, str]]:
    algorithm = str(operation.attributes["rng_algorithm"])
    if "DEFAULT" not in algorithm:
        yield (
            "EVRF006",
            f"random bits are asked for by {algorithm}, and only the default algorithm is known",
            "draw random numbers with PyTorch's own functions.",
        )
