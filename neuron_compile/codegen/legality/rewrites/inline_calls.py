"""Calls of private functions, which the compiler's list of operators does not have, inlined.

An operation of a function that names no node gets the location of the call, so that what the
compiler says about it leads to the user's line.
"""

from __future__ import annotations

from typing import Any

from jaxlib.mlir import ir

from neuron_compile.codegen.legality.program_module import (
    main_function,
    names_node,
    replace,
    run_passes,
    walk,
)


def inline_calls(module: Any) -> None:
    """Leave `main` as the module's only function."""
    operations = list(walk(module.operation))
    if any(operation.name == "stablehlo.composite" for operation in operations):
        run_passes(module, "func.func(stablehlo-legalize-composite-to-call)")
    functions = {
        function.attributes["sym_name"].value: function.operation
        for function in module.body.operations
    }
    main = main_function(module).operation
    while calls := [found for found in walk(main) if found.name == "func.call"]:
        for call in calls:
            _inline(call, functions[call.attributes["callee"].value])
    for function in functions.values():
        if function != main:
            function.erase()


def _inline(call: Any, function: Any) -> None:
    block = function.regions[0].blocks[0]
    values = dict(zip(block.arguments, call.operands, strict=True))
    with ir.InsertionPoint(call):
        for child in block.operations:
            operation = child.operation
            if operation.name == "func.return":
                replace(call, [values[value] for value in operation.operands])
                return
            clone = operation.clone().operation
            for inner in [*walk(clone), clone]:
                for index, operand in enumerate(list(inner.operands)):
                    if operand in values:
                        inner.operands[index] = values[operand]
            if not names_node(clone):
                clone.location = call.location
            values.update(zip(operation.results, clone.results, strict=True))
    raise AssertionError("a function ends with func.return")
