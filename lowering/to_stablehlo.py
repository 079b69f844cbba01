"""Torch dialect to StableHLO: the part of lowering that needs no torch.

A pure function of a `TorchProgram`, so that it can run in another process and be cached. Torch-MLIR
converts, the function library is linked in, and the result is written as a portable artifact.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final

from neuron_compile.lowering.diagnostics import (
    ConversionFailure,
    FailedNode,
    explain,
    node_number,
    unknown_operators,
)
from neuron_compile.lowering.dtypes import ELEMENT_TYPES
from neuron_compile.lowering.errors import UnsupportedOpError
from neuron_compile.lowering.layout import dense_strides
from neuron_compile.lowering.native_logs import quiet_native_logs
from neuron_compile.lowering.program import LoweredProgram, TensorSpec, TorchProgram
from neuron_compile.lowering.torch_context import torch_context

# StableHLO's promise is that a later version reads an artifact of an earlier one.
# https://github.com/openxla/stablehlo/blob/main/docs/compatibility.md
ARTIFACT_VERSION: Final = "1.17.0"

_TORCH_PIPELINES: Final = (
    "builtin.module(func.func(torch-match-quantized-custom-ops),"
    "torchdynamo-export-to-torch-backend-pipeline{ extra-library=})",
    "builtin.module(torch-backend-to-stablehlo-backend-pipeline{allow-non-finites=true})",
)
_NAMES: Final = {entry.mlir: name for name, entry in ELEMENT_TYPES.items()}
_STABLEHLO_PIPELINE: Final = (
    "builtin.module(func.func(chlo-legalize-to-stablehlo),canonicalize,cse)"
)


def to_stablehlo(program: TorchProgram) -> LoweredProgram:
    """Lower a program. Raises `ConversionFailure`."""
    quiet_native_logs()
    from jaxlib.mlir.dialects import stablehlo

    from neuron_compile.lowering.library.link import custom_call_targets

    module = _link_library(convert(program), program)
    _finish(module)
    # Serializing turns the module into another dialect, in which nothing is found any more.
    inputs, outputs = _main_types(module)
    custom_calls = custom_call_targets(module)
    artifact = bytes(stablehlo.serialize_portable_artifact(module, ARTIFACT_VERSION))
    _run(module, "builtin.module(strip-debuginfo)")
    anonymous = bytes(stablehlo.serialize_portable_artifact(module, ARTIFACT_VERSION))
    return LoweredProgram(
        stablehlo=artifact,
        inputs=inputs,
        outputs=outputs,
        digest=hashlib.sha256(anonymous).hexdigest(),
        custom_calls=custom_calls,
    )


def convert(program: TorchProgram) -> str:
    """Torch-MLIR's part alone: StableHLO text in which library calls are still custom calls.

    Raises `ConversionFailure`.
    """
    from torch_mlir import ir
    from torch_mlir.passmanager import PassManager

    module = ir.Module.parse(program.module, torch_context())
    unknown = unknown_operators(module)
    if unknown:
        raise ConversionFailure(unknown, "operators without an operation in the torch dialect")
    try:
        with module.context:
            for pipeline in _TORCH_PIPELINES:
                PassManager.parse(pipeline).run(module.operation)
    except ir.MLIRError as error:
        raise explain(error, module) from error
    text: str = module.operation.get_asm(enable_debug_info=True)
    return text


def _link_library(text: str, program: TorchProgram) -> Any:
    from jaxlib.mlir import ir

    from neuron_compile.lowering.library.link import link, mlir_context

    with mlir_context():
        module = ir.Module.parse(text)
    if not program.calls:
        return module
    from neuron_compile.lowering.library.control_flow import control_flow_body, is_control_flow
    from neuron_compile.lowering.library.trace import trace

    bodies: dict[str, str] = {}
    refused: dict[str, str] = {}
    for call in program.calls:
        try:
            bodies[call.symbol] = (control_flow_body if is_control_flow(call) else trace)(call)
        except UnsupportedOpError as error:
            refused[call.symbol] = error.operations[0].reason
    if refused:
        raise ConversionFailure(_callers(module, refused), "the function library refused calls")
    return link(module, bodies)


def _callers(module: Any, refused: dict[str, str]) -> tuple[FailedNode, ...]:
    failed = []
    for operation in _operations(module):
        if operation.name == "stablehlo.custom_call":
            symbol = _text(operation.attributes["call_target_name"])
            number = node_number(operation.location)
            if symbol in refused and number is not None:
                failed.append(FailedNode(number, symbol, refused[symbol]))
    return tuple(failed)


def _finish(module: Any) -> None:
    """Leave StableHLO alone: Torch-MLIR's constants are arith's, JAX's functions hold CHLO."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    for operation in _operations(module):
        if operation.name == "arith.constant":
            with ir.InsertionPoint(operation), operation.location:
                constant = ir.Operation.create(
                    "stablehlo.constant",
                    results=[operation.results[0].type],
                    attributes={"value": operation.attributes["value"]},
                )
            operation.results[0].replace_all_uses_with(constant.result)
            operation.erase()
    stablehlo.register_stablehlo_passes()
    _run(module, _STABLEHLO_PIPELINE)


def _run(module: Any, pipeline: str) -> None:
    from jaxlib.mlir.passmanager import PassManager

    with module.context:
        PassManager.parse(pipeline).run(module.operation)


def _main_types(module: Any) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    from jaxlib.mlir import ir

    for operation in module.body.operations:
        if _text(operation.attributes["sym_name"]) == "main":
            signature = ir.FunctionType(ir.TypeAttr(operation.attributes["function_type"]).value)
            return tuple(map(_spec, signature.inputs)), tuple(map(_spec, signature.results))
    raise ConversionFailure((), "the module has no function main")


def _spec(tensor: Any) -> TensorSpec:
    from jaxlib.mlir import ir

    ranked = ir.RankedTensorType(tensor)
    shape = tuple(ranked.shape)
    return TensorSpec(shape, _NAMES[str(ranked.element_type)], dense_strides(shape))


def _text(attribute: Any) -> str:
    from jaxlib.mlir import ir

    value: str = ir.StringAttr(attribute).value
    return value


def _operations(module: Any) -> list[Any]:
    from jaxlib.mlir import ir

    found: list[Any] = []

    def visit(operation: Any) -> Any:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found
