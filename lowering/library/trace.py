"""A library call's body as StableHLO text, traced from JAX.

No JAX backend is initialised: on a machine with an accelerator's plug-in that would claim the
device. For that reason the body goes through `make_jaxpr` and JAX's own module builder, not
through `jit(...).lower(...)`, which asks for the default device.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

from neuron_compile.lowering.dtypes import ELEMENT_TYPES
from neuron_compile.lowering.errors import LoweringError, UnsupportedOp, UnsupportedOpError
from neuron_compile.lowering.library.arguments import (
    Arguments,
    DType,
    Operand,
    decode_arguments,
)
from neuron_compile.lowering.library.refusal import Refused
from neuron_compile.lowering.library.settings import pinned_settings
from neuron_compile.lowering.library.table import TABLE
from neuron_compile.lowering.program import CALL_MARK, LibraryCall, TensorSpec

_SHARDING: Final = "sdy.sharding_rule"


def trace(call: LibraryCall) -> str:
    """The StableHLO module whose function `main` computes `call`; one result per non-None result.

    Raises `UnsupportedOpError` when there is no body or it refuses the arguments, `LoweringError`
    when it fails or its results are not of the declared types.
    """
    return _trace(call.operator, call.arguments, call.operands, call.results)


@lru_cache(maxsize=1024)
def _trace(
    operator: str,
    arguments: str,
    operands: tuple[TensorSpec, ...],
    results: tuple[TensorSpec | None, ...],
) -> str:
    entry = TABLE.get(operator)
    if entry is None:
        raise _unsupported(operator, operands, "the function library has no body for it.")
    body = entry.resolve()
    if entry.needs_strides:
        body = partial(body, strides=[spec.strides for spec in operands])
    if entry.needs_results:
        body = partial(body, results=results)
    function = closed_body(body, decode_arguments(arguments), results)
    shapes = [jax.ShapeDtypeStruct(spec.shape, numpy_dtype(spec.dtype)) for spec in operands]
    try:
        with pinned_settings():
            jaxpr = jax.make_jaxpr(function)(*shapes)
            module = mlir.build_mlir_module_helper(
                jaxpr, name="lib", platforms=("cpu",), backend=None, axis_context=None
            )
            _drop_sharding(module)
            if entry.is_marked:
                _mark(module, operator, arguments, results)
            return str(module)
    except Refused as refusal:
        raise _unsupported(operator, operands, str(refusal)) from refusal
    except LoweringError:
        raise
    except Exception as error:
        raise LoweringError(
            f"the library body of {operator} failed",
            where=(_types(operands), arguments[:200]),
            why=f"{type(error).__name__}: {error}",
        ) from error


def _mark(
    module: Any, operator: str, arguments: str, results: tuple[TensorSpec | None, ...]
) -> None:
    """Keep what `main` computes, in words: `CALL_MARK` of its attributes."""
    kept = [number for number, result in enumerate(results) if result is not None]
    call = json.dumps(
        {"operator": operator, "arguments": arguments, "results": kept}, sort_keys=True
    )
    (main,) = (
        function
        for function in module.body.operations
        if ir.StringAttr(function.attributes["sym_name"]).value == "main"
    )
    with module.context:
        main.attributes[CALL_MARK] = ir.StringAttr.get(call)


def _drop_sharding(module: Any) -> None:
    """Remove the rules by which kernels may be spread over devices: a program has one device, and
    StableHLO's own dialects do not include them."""

    def visit(operation: Any) -> Any:
        if _SHARDING in operation.attributes:
            del operation.attributes[_SHARDING]
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)


def numpy_dtype(name: str) -> Any:
    """The NumPy dtype of a PyTorch dtype name; bfloat16 and float8 are JAX's extension types."""
    return jnp.dtype(ELEMENT_TYPES[name].numpy)


def closed_body(
    body: Callable[..., Any], arguments: Arguments, results: Sequence[TensorSpec | None]
) -> Callable[..., list[Any]]:
    """`body` as a function of the operands alone, its results checked and cast as declared."""

    def function(*operands: Any) -> list[Any]:
        args = [_fill(value, operands) for value in arguments.positional]
        kwargs = {name: _fill(value, operands) for name, value in arguments.keyword.items()}
        outputs = body(*args, **kwargs)
        outputs = jax.tree.leaves(outputs, is_leaf=lambda part: part is None)
        if len(outputs) != len(results):
            raise LoweringError(
                "a library body returned another number of results than declared",
                why=f"{len(outputs)} results, {len(results)} declared",
            )
        return [_declared(o, s) for o, s in zip(outputs, results, strict=True) if s is not None]

    return function


def _fill(value: Any, operands: Sequence[Any]) -> Any:
    if isinstance(value, list):
        return [_fill(item, operands) for item in value]
    if isinstance(value, Operand):
        return operands[value.index]
    if isinstance(value, DType):
        return numpy_dtype(value.name)
    return value


def _declared(output: Any, spec: TensorSpec) -> Any:
    output = jnp.asarray(output)
    dtype = numpy_dtype(spec.dtype)
    loses_part = jnp.iscomplexobj(output) and not jnp.issubdtype(dtype, jnp.complexfloating)
    if output.shape != spec.shape or loses_part:
        raise LoweringError(
            "a library body returned another type than declared",
            why=f"{output.dtype}{list(output.shape)}, declared {spec.dtype}{list(spec.shape)}",
        )
    return output.astype(dtype)


def _unsupported(operator: str, operands: Sequence[TensorSpec], reason: str) -> UnsupportedOpError:
    return UnsupportedOpError([UnsupportedOp(operator, "", _types(operands), reason)])


def _types(specs: Sequence[TensorSpec]) -> str:
    return ", ".join(f"{spec.dtype}{list(spec.shape)}" for spec in specs)
