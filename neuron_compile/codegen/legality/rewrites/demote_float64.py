"""64-bit floating point as 32-bit, which is all a device has (NCC_ESPP004).

Documented behaviour: float64 runs as float32. Every type, constant and function signature of the
module changes, so this works on the module as a whole. Finite constants too large for 32 bits
become the largest finite number, because masks are written with such constants and an infinity in
their place would turn into NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxlib.mlir import ir

from neuron_compile.codegen.legality.program_module import node_numbers, walk


def demote_float64(module: Any) -> tuple[int, ...] | None:
    """Turn f64 into f32 throughout; the nodes that had it, or None where nothing did.

    Programs that look at the bits of a 64-bit number are left as they are.
    """
    operations = [operation for operation in walk(module.operation) if _has_float64(operation)]
    is_bitwise = any(operation.name == "stablehlo.bitcast_convert" for operation in operations)
    if not operations or is_bitwise:
        return None
    with module.context, ir.Location.unknown():
        nodes = {number for operation in operations for number in node_numbers(operation)}
        for operation in operations:
            for result in operation.results:
                result.set_type(_demoted(result.type))
            for region in operation.regions:
                for block in region.blocks:
                    for argument in block.arguments:
                        argument.set_type(_demoted(argument.type))
            if operation.name == "func.func":
                operation.attributes["function_type"] = ir.TypeAttr.get(_signature(operation))
            if operation.name == "stablehlo.constant":
                operation.attributes["value"] = _constant(operation.attributes["value"])
    return tuple(sorted(nodes))


def _has_float64(operation: Any) -> bool:
    types = [result.type for result in operation.results]
    types += [operand.type for operand in operation.operands]
    for region in operation.regions:
        for block in region.blocks:
            types += [argument.type for argument in block.arguments]
    if operation.name == "func.func":
        signature = ir.FunctionType(operation.attributes["function_type"].value)
        types += [*signature.inputs, *signature.results]
    return any(_is_float64(kind) for kind in types)


def _is_float64(kind: Any) -> bool:
    return isinstance(kind, ir.RankedTensorType) and isinstance(
        ir.RankedTensorType(kind).element_type, ir.F64Type
    )


def _demoted(kind: Any) -> Any:
    if not _is_float64(kind):
        return kind
    return ir.RankedTensorType.get(ir.RankedTensorType(kind).shape, ir.F32Type.get())


def _signature(function: Any) -> Any:
    signature = ir.FunctionType(function.attributes["function_type"].value)
    return ir.FunctionType.get(
        [_demoted(kind) for kind in signature.inputs],
        [_demoted(kind) for kind in signature.results],
    )


def _constant(attribute: Any) -> Any:
    dense = ir.DenseElementsAttr(attribute)
    if not _is_float64(dense.type):
        return attribute
    shape = list(ir.RankedTensorType(dense.type).shape)
    values = np.asarray(ir.DenseFPElementsAttr(attribute), dtype=np.float64)
    if dense.is_splat:
        values = values.reshape(-1)[:1]
    limit = float(np.finfo(np.float32).max)
    narrow = np.where(np.isfinite(values), values.clip(-limit, limit), values).astype(np.float32)
    if dense.is_splat:
        number = ir.FloatAttr.get(ir.F32Type.get(), float(narrow[0]))
        return ir.DenseElementsAttr.get_splat(_demoted(dense.type), number)
    return ir.DenseElementsAttr.get(np.ascontiguousarray(narrow), shape=shape)
