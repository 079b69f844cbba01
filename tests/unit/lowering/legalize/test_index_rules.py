"""Where index operands stand, and what they must lie in, against eager's own verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fx_graphs import capture
from neuron_compile.lowering.legalize.index_rules import index_bounds
from neuron_compile.lowering.legalize.node_values import placeholders

aten = torch.ops.aten
X = torch.arange(12.0).reshape(3, 4)
ROW = torch.ones(1, 4)

# name -> the operation with one index, which selects among 3 rows unless said otherwise.
ROWS: dict[str, Callable[[Any], Any]] = {
    "index": lambda i: aten.index(X, [i]),
    "index_put": lambda i: aten.index_put(X, [i], ROW),
    "index_select": lambda i: aten.index_select(X, 0, i),
    "index_fill": lambda i: aten.index_fill(X, 0, i, 1.0),
    "index_copy": lambda i: aten.index_copy(X, 0, i, ROW),
    "index_add": lambda i: aten.index_add(X, 0, i, ROW),
    "gather": lambda i: aten.gather(X, 0, i.reshape(1, 1)),
    "scatter": lambda i: aten.scatter(X, 0, i.reshape(1, 1), ROW),
    "scatter value": lambda i: aten.scatter(X, 0, i.reshape(1, 1), 2.0),
    "scatter_add": lambda i: aten.scatter_add(X, 0, i.reshape(1, 1), ROW),
    "scatter_reduce": lambda i: aten.scatter_reduce(X, 0, i.reshape(1, 1), ROW, "sum"),
    "embedding": lambda i: aten.embedding(X, i),
    "take": lambda i: aten.take(X[:, 0], i),
}


def eager_raises(function: Callable[[Any], Any], number: int) -> bool:
    try:
        function(torch.tensor([number]))
    except (IndexError, RuntimeError):
        return True
    return False


@pytest.mark.parametrize("name", ROWS)
def test_bounds_are_those_that_eager_enforces(name: str) -> None:
    function = ROWS[name]
    module = capture(function, torch.tensor([0]))
    (bound,) = (b for node in module.graph.nodes for b in index_bounds(node))
    for number in (bound.low - 1, bound.low, bound.size - 1, bound.size):
        is_outside = not bound.low <= number < bound.size
        assert eager_raises(function, number) == is_outside, number
    (placeholder,) = placeholders(module)
    source = bound.index
    while source.op != "placeholder":
        source = source.args[0]  # type: ignore[assignment]
    assert source is placeholder


def test_masks_require_nothing() -> None:
    module = capture(lambda mask: aten.index_put(X, [mask], torch.tensor(1.0)), X > 3)
    assert [b for node in module.graph.nodes for b in index_bounds(node)] == []


def test_class_out_of_range_is_called_a_target() -> None:
    module = capture(lambda i: aten.gather(X, 1, i.reshape(1, 1)), torch.tensor([0]))
    (node,) = (n for n in module.graph.nodes if "gather" in str(n.target))
    node.meta["original_aten"] = aten.nll_loss_forward.default
    (bound,) = index_bounds(node)
    assert (bound.exception, bound.message) == ("IndexError", "Target is out of bounds.")


def test_other_operations_have_no_bounds() -> None:
    module = capture(lambda x: x.sin().sum(0), X)
    assert [b for node in module.graph.nodes for b in index_bounds(node)] == []
