"""Checks that functions hand to their callers."""

from __future__ import annotations

from typing import Any

import torch
import torch._higher_order_ops
from torch import Tensor

from fx_graphs import capture
from neuron_compile.lowering.legalize.copy_graph import copy_graph
from neuron_compile.lowering.legalize.lift_regions import lift_regions
from neuron_compile.lowering.legalize.node_values import value
from neuron_compile.lowering.legalize.region_checks import (
    checks_of,
    set_checks,
    take_region_checks,
)
from neuron_compile.lowering.legalize.regions import functions_of, region_calls
from neuron_compile.lowering.program import RuntimeCheck

FIRST, SECOND = RuntimeCheck("IndexError", "first"), RuntimeCheck("IndexError", "second")


def branches() -> Any:
    def function(x: Tensor) -> Any:
        return torch.ops.higher_order.cond(
            x.sum() > 0, lambda x: (x.sin(),), lambda x: (x.cos(),), (x,)
        )

    module = copy_graph(capture(function, torch.ones(2)))
    lift_regions(module)
    return module


def test_a_call_gives_the_checks_of_all_its_functions_in_their_order() -> None:
    module = branches()
    (call,) = region_calls(module)
    one, other = functions_of(call)
    set_checks(one, (FIRST,))
    set_checks(other, (SECOND, FIRST))
    checks, (vector,) = take_region_checks(module)
    assert checks == (FIRST, SECOND, FIRST)
    assert vector.args == (call, 1)
    assert (value(vector).dtype, value(vector).shape) == (torch.bool, (3,))
    assert len(value(call)) == 2


def test_a_call_without_checks_is_left_as_it_is() -> None:
    module = branches()
    (call,) = region_calls(module)
    assert [checks_of(function) for function in functions_of(call)] == [(), ()]
    assert take_region_checks(module) == ((), [])
    assert len(value(call)) == 1
