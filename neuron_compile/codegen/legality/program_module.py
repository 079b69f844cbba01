"""A program's bytes to an MLIR module that can be walked and changed, and back.

Locations are node numbers (`loc("n12")`), the only thing that ties an operation to the user's
source, so everything that replaces an operation keeps its location.
"""

from __future__ import annotations

import re
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Final

from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext
from jaxlib.mlir.dialects import chlo, stablehlo
from jaxlib.mlir.passmanager import PassManager

from neuron_compile.errors import CodegenError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NODE: Final = re.compile(r'"n(\d+)"')

stablehlo.register_stablehlo_passes()


def open_context() -> Any:
    """An MLIR context that knows the dialects of a lowered program."""
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    return context


def read_module(program: bytes) -> Any:
    """The module of a portable StableHLO artifact. Raises `CodegenError` if it is not one."""
    context = open_context()
    try:
        return stablehlo.deserialize_portable_artifact(context, program)
    except (ir.MLIRError, ValueError) as error:
        raise CodegenError(f"the program is not a StableHLO artifact: {error}") from error


def write_module(module: Any) -> bytes:
    """The portable StableHLO artifact of a module, which must not be used any more."""
    version = stablehlo.get_current_version()
    artifact: bytes = stablehlo.serialize_portable_artifact(module, version, True)
    return artifact


def run_passes(module: Any, pipeline: str) -> None:
    """Run an MLIR pipeline such as `func.func(canonicalize)` on the module."""
    with module.context:
        PassManager.parse(f"builtin.module({pipeline})").run(module.operation)


def walk(operation: Any) -> Iterator[Any]:
    """Every operation below, innermost first, so that a visited one may be erased with its body."""
    for region in operation.regions:
        for block in region.blocks:
            for child in list(block.operations):
                yield from walk(child.operation)
                yield child.operation


def main_function(module: Any) -> Any:
    """The function `main`."""
    for operation in module.body.operations:
        if operation.name.value == "main":
            return operation
    raise CodegenError("the program has no function called main")


def node_numbers(operation: Any) -> tuple[int, ...]:
    """The FX nodes that an operation came from: its own, else those of what it is inside of; for a
    private function, those of its calls."""
    place = operation
    while place is not None:
        if own := _NODE.findall(str(place.location)):
            return tuple(sorted({int(number) for number in own}))
        if place.name == "func.func":
            return _nodes_of_calls(place)
        place = place.parent.operation if place.parent else None
    return ()


def names_node(operation: Any) -> bool:
    """Whether an operation's own location has a node number."""
    return _NODE.search(str(operation.location)) is not None


def _nodes_of_calls(function: Any) -> tuple[int, ...]:
    symbol = function.attributes["sym_name"].value
    if symbol == "main":
        return ()
    calls = [
        call
        for call in walk(function.parent.operation)
        if call.name == "func.call" and call.attributes["callee"].value == symbol
    ]
    return tuple(sorted({number for call in calls for number in node_numbers(call)}))


@contextmanager
def building_at(operation: Any) -> Iterator[None]:
    """Build before `operation`, under its location."""
    with ExitStack() as stack:
        stack.enter_context(operation.location)
        stack.enter_context(ir.InsertionPoint(operation))
        yield


def replace(operation: Any, values: list[Any]) -> None:
    """Put `values` where the results of `operation` were used, and erase it."""
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    operation.erase()
