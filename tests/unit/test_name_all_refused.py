"""What one stage refuses does not hide what another one does."""

from __future__ import annotations

import pytest
import torch
from torch.fx import GraphModule

from fx_graphs import capture, run, targets
from neuron_compile.errors import LoweringError, UnsupportedOp, UnsupportedOpError
from neuron_compile.name_all_refused import name_all_refused, without


def refusal(*nodes: str) -> UnsupportedOpError:
    return UnsupportedOpError([UnsupportedOp("op", node, "", "why") for node in nodes])


class Stages:
    """Each stage refuses calls of its own operators, and hides the stages after it."""

    def __init__(self, *stages: set[str]) -> None:
        self.stages = stages
        self.attempts = 0

    def __call__(self, module: GraphModule) -> None:
        self.attempts += 1
        for stage in self.stages:
            nodes = [n.name for n in module.graph.nodes if n.op == "call_function"]
            if found := [name for name in nodes if name.split("_")[0] in stage]:
                raise refusal(*found)


def graph() -> GraphModule:
    return capture(lambda x: [x.sin().cos().exp(), x.tanh().sin()], torch.ones(2))


def test_operations_of_all_stages_are_named_in_the_order_of_the_graph() -> None:
    stages = Stages({"tanh"}, {"sin"}, {"exp"})
    error = name_all_refused(graph(), refusal("tanh"), stages)
    assert [op.node for op in error.operations] == ["sin", "exp", "tanh", "sin_1"]
    assert stages.attempts == 3


def test_error_that_was_complete_stays_the_same_object() -> None:
    first = refusal("sin")
    assert name_all_refused(graph(), first, Stages({"sin"})) is not first  # sin_1 was missing
    first = refusal("tanh")
    assert name_all_refused(graph(), first, Stages({"tanh"})) is first


def test_another_error_on_the_way_does_not_take_its_place() -> None:
    def fail(_: GraphModule) -> None:
        raise LoweringError("the rest cannot be lowered")

    first = refusal("tanh")
    assert name_all_refused(graph(), first, fail) is first


def test_operations_that_are_not_in_the_graph_are_kept() -> None:
    first = refusal("tanh", "inside_a_branch")
    error = name_all_refused(graph(), first, Stages({"tanh"}, {"exp"}))
    assert [op.node for op in error.operations] == ["exp", "tanh", "inside_a_branch"]


def test_what_cut_calls_gave_comes_in_and_is_not_returned() -> None:
    module = capture(lambda x: [x.max(0)[0] + 1, x.max(0)[1], x.sin()], torch.ones(2, 3))
    several = next(n.name for n in module.graph.nodes if n.op == "call_function")
    cut = without(module, [several, "sin"])
    assert "sin" not in targets(cut)
    x, given = torch.randn(2, 3), torch.tensor([1.0, 2.0, 3.0])
    total, *rest = run(cut, x, given)
    assert torch.equal(total, given + 1)
    assert rest[-1] is None
    assert targets(module).count("sin") == 1


@pytest.mark.parametrize("names", [["tanh"], ["sin", "cos"]])
def test_graph_itself_stays_as_it_is(names: list[str]) -> None:
    module = graph()
    without(module, names)
    x = torch.randn(2)
    assert torch.equal(run(module, x)[1], x.tanh().sin())
