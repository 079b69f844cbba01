"""Library bodies linked into a StableHLO module, in jaxlib's MLIR.

The module comes from Torch-MLIR, in which each library call is an opaque custom call (a call to a
declaration would not survive Torch-MLIR's shape refinement). Here it becomes a call to a private
function.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, func, stablehlo

from neuron_compile.lowering.errors import LoweringError


@lru_cache(maxsize=1)
def mlir_context() -> Any:
    """The process's MLIR context with the dialects that JAX emits; needs no import of JAX."""
    context = ir.Context()
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    return context


def link(module: Any, bodies: Mapping[str, str]) -> Any:
    """`module` with each custom call to a symbol of `bodies` made a call to the linked function.

    `module` is MLIR text, or a module of `mlir_context()`, which is changed. `bodies` maps symbols
    to texts of `trace`, or of `control_flow_body`, which declare the functions of `module` that
    they call. Equal bodies are linked once, and only `main` stays public. Raises `LoweringError` if
    the result is not a valid module, or a body does not fit its call.
    """
    with mlir_context():
        linked = ir.Module.parse(module) if isinstance(module, str) else module
        called = set(custom_call_targets(linked)) & set(bodies)
        owners: dict[str, str] = {}
        for symbol in sorted(called):
            owners.setdefault(bodies[symbol], symbol)
        for text, symbol in owners.items():
            _append(linked, symbol, text)
        _redirect(linked, {symbol: owners[bodies[symbol]] for symbol in called})
        for function in linked.body.operations:
            if ir.StringAttr(function.attributes["sym_name"]).value != "main":
                function.attributes["sym_visibility"] = ir.StringAttr.get("private")
        try:
            linked.operation.verify()
        except ir.MLIRError as error:
            raise LoweringError(
                "linking the function library gave an invalid module", why=str(error)
            ) from error
        return linked


def custom_call_targets(module: Any) -> tuple[str, ...]:
    """The distinct targets of the custom calls in `module`, sorted: LAPACK kernels, once linked."""
    return tuple(sorted({_target(op) for op in _custom_calls(module)}))


def _append(module: Any, symbol: str, text: str) -> None:
    library = ir.Module.parse(text)
    defined = [operation for operation in library.body.operations if not operation.is_external]
    for operation in defined:
        old = ir.StringAttr(operation.attributes["sym_name"]).value
        new = symbol if old == "main" else f"{symbol}.{old}"
        ir.SymbolTable.replace_all_symbol_uses(old, new, library.operation)
        ir.SymbolTable.set_symbol_name(operation, new)
        ir.SymbolTable.set_visibility(operation, "private")
    # What is declared only is a function of the program.
    for operation in defined:
        module.body.append(operation.operation.detach_from_parent())


def _redirect(module: Any, functions: Mapping[str, str]) -> None:
    for operation in _custom_calls(module):
        symbol = functions.get(_target(operation))
        if symbol is None:
            continue
        with ir.InsertionPoint(operation), operation.location:
            call = func.CallOp(
                [result.type for result in operation.results],
                ir.FlatSymbolRefAttr.get(symbol),
                list(operation.operands),
            )
        for old, new in zip(operation.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        operation.erase()


def _custom_calls(module: Any) -> list[Any]:
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == "stablehlo.custom_call":
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def _target(operation: Any) -> str:
    attribute = ir.StringAttr(operation.attributes["call_target_name"])
    target: str = attribute.value
    return target
