"""What eager would have raised for is computed beside the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fx_graphs import capture, run
from neuron_compile.lowering.legalize.collect_checks import collect_checks

aten = torch.ops.aten


def failed(function: Callable[..., Any], *inputs: Any) -> list[tuple[str, bool]]:
    """The exception of each check, and whether it has failed for these inputs."""
    module = capture(function, *(torch.zeros_like(x) for x in inputs))
    checks = collect_checks(module)
    if not checks:
        return []
    vector = run(module, *inputs)[-1]
    assert vector.dtype == torch.bool
    assert vector.shape == (len(checks),)
    return list(zip((check.exception for check in checks), vector.tolist(), strict=True))


def test_graph_without_conditions_gets_no_further_result() -> None:
    module = capture(lambda x: x.sin() / 2, torch.ones(2))
    assert collect_checks(module) == ()
    assert len(run(module, torch.ones(2))) == 1


@pytest.mark.parametrize(
    ("index", "is_bad"), [([0, 2], False), ([-3, 1], False), ([3], True), ([0, -4], True)]
)
def test_index_is_checked_against_the_size_from_both_ends(index: list[int], is_bad: bool) -> None:
    x, i = torch.ones(3), torch.tensor(index)
    module = capture(lambda x, i: aten.index(x, [i]), x, i)
    (check,) = collect_checks(module)
    assert check.exception == "IndexError"
    assert "dimension 0 with size 3" in check.message
    # The graph's own look-up would raise in eager: only the check is computed here.
    output = next(iter(reversed(module.graph.nodes)))
    output.args = ((output.args[0][-1],),)
    module.graph.eliminate_dead_code()
    assert run(module, x, i)[0].tolist() == [is_bad]


@pytest.mark.parametrize(("divisor", "is_bad"), [([2, -1], False), ([1, 0], True)])
def test_integer_divisor_is_checked_and_a_float_one_is_not(
    divisor: list[int], is_bad: bool
) -> None:
    def divide(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.where(y == 0, x, torch.remainder(x, y))

    def only_check(module: torch.fx.GraphModule) -> None:
        output = next(iter(reversed(module.graph.nodes)))
        output.args = ((output.args[0][-1],),)
        module.graph.eliminate_dead_code()

    x, y = torch.tensor([4, 5]), torch.tensor(divisor)
    module = capture(divide, x, y)
    (check,) = collect_checks(module)
    only_check(module)
    assert run(module, x, y)[0].tolist() == [is_bad]
    assert check.message.startswith("ZeroDivisionError")
    assert failed(divide, x.float(), y.float()) == []


def test_equal_conditions_are_checked_once_and_constants_never() -> None:
    table = torch.arange(3)

    def twice(x: torch.Tensor, y: torch.Tensor, i: torch.Tensor) -> Any:
        return aten.index(x, [i]) + aten.index(y, [i]) + aten.index(x, [table])

    assert failed(twice, torch.ones(3), torch.ones(3), torch.tensor([0, 1, 2])) == [
        ("IndexError", False)
    ]


def test_message_names_the_users_line() -> None:
    module = capture(lambda x, i: aten.index(x, [i]), torch.ones(3), torch.tensor([0]))
    for node in module.graph.nodes:
        node.meta["stack_trace"] = '  File "m.py", line 3, in f\n    return x[i]\n'
    (check,) = collect_checks(module)
    assert check.message.splitlines()[-1] == "  m.py:3   return x[i]"
