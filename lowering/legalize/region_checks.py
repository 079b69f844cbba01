"""Checks inside control flow: computed where the operation is, handed outwards by each call."""

from __future__ import annotations

import operator
from typing import Final

import torch
from torch.fx import GraphModule, Node

from neuron_compile.lowering.legalize.node_values import fake_mode_of, inherit_source
from neuron_compile.lowering.legalize.regions import functions_of, region_calls
from neuron_compile.lowering.program import RuntimeCheck

_CHECKS: Final = "neuron_compile_checks"


def checks_of(function: GraphModule) -> tuple[RuntimeCheck, ...]:
    """What the entries of a function's last result mean; empty if it has no checks."""
    found: tuple[RuntimeCheck, ...] = function.meta.get(_CHECKS, ())
    return found


def set_checks(function: GraphModule, checks: tuple[RuntimeCheck, ...]) -> None:
    """Note what has been added to a function's results."""
    function.meta[_CHECKS] = checks


def take_region_checks(module: GraphModule) -> tuple[tuple[RuntimeCheck, ...], list[Node]]:
    """Make the calls of functions with checks return them; give the checks, and the vectors."""
    checks: list[RuntimeCheck] = []
    vectors: list[Node] = []
    mode = fake_mode_of(module)
    for call in region_calls(module):
        inner = [c for function in functions_of(call) for c in checks_of(function)]
        if not inner:
            continue
        with mode:
            vector = torch.empty(len(inner), dtype=torch.bool)
        call.meta["val"] = [*call.meta["val"], vector]
        with module.graph.inserting_after(call):
            taken = module.graph.call_function(operator.getitem, (call, len(call.meta["val"]) - 1))
        taken.meta["val"] = vector
        inherit_source(taken, call)
        checks += inner
        vectors.append(taken)
    return tuple(checks), vectors
