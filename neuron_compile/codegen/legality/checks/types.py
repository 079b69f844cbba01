"""Shapes and element types (NCC_EMOD025, EVRF004, EVRF005, EVRF051, EVRF052, ESPP004, ESPP047)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jaxlib.mlir import ir

from neuron_compile.codegen.legality.program_module import node_numbers
from neuron_compile.codegen.legality.refusal import Refusal
from neuron_compile.codegen.legality.rewrites.settle_shapes import DYNAMIC_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_compile.codegen.legality.device import Device

_FLOAT_HINT: Final = "cast to float32, bfloat16 or float16 before the operation."
_SUPPORTED_FLOAT8: Final = frozenset({"f8E4M3", "f8E5M2", "f8E3M4"})
_RETURNS: Final = frozenset({"func.return", "stablehlo.return"})
_FNUZ: Final = frozenset({"f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2FNUZ"})


def check_types(operation: Any, device: Device) -> Iterator[Refusal]:
    """What is wrong with the types of an operation's operands and results, and of a function's
    arguments.

    An argument is from no node, so it is refused at the nodes that use it.
    """
    nodes: dict[tuple[str, str, str], set[int]] = {}
    if operation.name in DYNAMIC_OPERATIONS:
        nodes[_dynamic(operation.results[0].type)] = set(node_numbers(operation))
    operands = [] if operation.name in _RETURNS else operation.operands
    for value in [*operands, *operation.results]:
        if found := _refused(value.type, device):
            nodes.setdefault(found, set()).update(node_numbers(operation))
    if operation.name == "func.func" and operation.regions[0].blocks:
        for argument in operation.regions[0].blocks[0].arguments:
            if found := _refused(argument.type, device):
                users = (node_numbers(use.owner.operation) for use in argument.uses)
                nodes.setdefault(found, set()).update(*users)
    for (code, why, way_out), numbers in nodes.items():
        yield Refusal(code, str(operation.name), tuple(sorted(numbers)), why, way_out)


def _refused(kind: Any, device: Device) -> tuple[str, str, str] | None:
    if isinstance(kind, ir.UnrankedTensorType):
        return _dynamic(kind)
    if not isinstance(kind, ir.RankedTensorType):
        return None
    tensor = ir.RankedTensorType(kind)
    if not tensor.has_static_shape:
        return _dynamic(kind)
    return _refused_element(tensor.element_type, device)


def _dynamic(kind: Any) -> tuple[str, str, str]:
    return (
        "EMOD025",
        f"every dimension must be known when compiling, and one of {kind} is computed or unknown",
        "compile with dynamic=False, and pad or bucket inputs that vary.",
    )


def _refused_element(element: Any, device: Device) -> tuple[str, str, str] | None:
    name = str(element)
    if isinstance(element, ir.ComplexType):
        return (
            "EVRF004",
            f"the device has no complex numbers ({name})",
            "compute with real and imaginary parts, keep the operation out of the compiled region "
            'with torch.compiler.disable, or pass options={"fallback": "eager"}.',
        )
    if isinstance(element, ir.F64Type):
        return "ESPP004", "the device has no 64-bit floating point", _FLOAT_HINT
    if isinstance(element, ir.IntegerType):
        if 1 < element.width < 8:
            return "ESPP004", f"the device has no {element.width}-bit integers", "cast to int8."
        return None
    if name in _FNUZ:
        return "EVRF005", f"the device has no {name[1:].upper()} numbers", _FLOAT_HINT
    if name == "f8E4M3FN" and device.generation <= 3:
        return (
            "EVRF051",
            f"{device.name} has no F8E4M3FN numbers; Trn3 and later have",
            "use float8_e5m2, or target trn3.",
        )
    if name == "f8E4M3" and device.generation > 4:
        return "EVRF052", "devices after Trn3 have F8E4M3FN instead of F8E4M3", "use F8E4M3FN."
    if name.startswith("f8") and name not in _SUPPORTED_FLOAT8 | {"f8E4M3FN"}:
        return "ESPP047", f"the device has no {name[1:].upper()} numbers", _FLOAT_HINT
    if name.startswith(("f4", "f6")):
        return "ESPP004", f"the device has no {name[1:].upper()} numbers", _FLOAT_HINT
    return None
