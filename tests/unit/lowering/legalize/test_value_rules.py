"""What operators refuse of their operands' numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dispatch.python import enable_python_dispatcher

from fx_graphs import capture, run
from neuron_compile.lowering.decompose.whole_operators import whole_operators
from neuron_compile.lowering.legalize.node_values import output_node
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops
from neuron_compile.lowering.legalize.value_rules import value_rules

NAN, INF = float("nan"), float("inf")
Function = Callable[..., Tensor]


def refused(function: Function, *inputs: Any) -> list[str]:
    """The messages of the rules that these inputs break, each computed by the graph."""
    with whole_operators(), enable_python_dispatcher():
        module = capture(function, *(torch.ones_like(x) for x in inputs))
    replace_random_ops(module)
    calls = [node for node in module.graph.nodes if node.op == "call_function"]
    rules = [(node, rule) for node in calls for rule in value_rules(node)]
    output = output_node(module)
    with module.graph.inserting_before(output):
        output.args = (tuple(rule.failed(module, node) for node, rule in rules),)
    # A graph keeps draws that nobody uses, and they have no eager form.
    module.graph.eliminate_dead_code(lambda node: node.op in ("placeholder", "output"))
    broken = run(module, *inputs)
    return [rule.message for (_, rule), bad in zip(rules, broken, strict=True) if bad]


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (torch.bernoulli, [0.0, 1.0, 0.25], [[1.5], [-0.1], [NAN]]),
        (lambda x: torch.empty(2, 1).bernoulli_(x), [0.5], [[2.0]]),
        (torch.poisson, [0.0, 8.0], [[-1.0], [NAN]]),
        (lambda x: torch.normal(0.0, x), [0.0, 2.0], [[-1.0, 1.0], [NAN]]),
        (lambda x: torch.multinomial(x, 1), [0.0, 2.0], [[0.0, 0.0], [-1.0, 2.0], [INF, 1.0]]),
        (lambda x: torch.multinomial(x, 1), [[1.0], [2.0]], [[[1.0], [0.0]], [[1.0], [NAN]]]),
    ],
)
def test_parameters_of_distributions(function: Function, good: Any, bad: list[Any]) -> None:
    assert refused(function, torch.tensor(good)) == []
    for values in bad:
        assert refused(function, torch.tensor(values))
        with pytest.raises(RuntimeError):
            function(torch.tensor(values))


@pytest.mark.parametrize("index", [3, -1])
def test_classes_outside_their_number(index: int) -> None:
    def function(x: Tensor) -> Tensor:
        return torch.nn.functional.one_hot(x, 3)

    assert refused(function, torch.tensor([0, 2])) == []
    (message,) = refused(function, torch.tensor([0, index]))
    with pytest.raises(RuntimeError, match=message):
        function(torch.tensor([0, index]))


def test_integer_division_by_zero_and_no_other() -> None:
    def divide(x: Tensor, y: Tensor) -> Tensor:
        return torch.remainder(x, y)

    assert refused(divide, torch.tensor([1]), torch.tensor([0])) == ["ZeroDivisionError"]
    assert refused(divide, torch.tensor([1]), torch.tensor([2])) == []
    assert refused(divide, torch.tensor([1.0]), torch.tensor([0.0])) == []
