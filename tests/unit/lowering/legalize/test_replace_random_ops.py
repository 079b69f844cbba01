"""Random operators become functions of one seed and of their place in the graph."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from fx_graphs import capture, targets
from neuron_compile.lowering.legalize.node_values import output_node
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops

OURS = "neuron_compile."
X = torch.full((2, 3), 0.5)
CASES: dict[str, Callable[[Tensor], Tensor]] = {
    "rand": lambda x: torch.rand(2, 3),
    "rand_like half": lambda x: torch.rand_like(x, dtype=torch.float16),
    "randn": lambda x: torch.randn(2, 3),
    "randint": lambda x: torch.randint(5, (4,)),
    "randint low": lambda x: torch.randint(-5, 5, (4,), dtype=torch.int32),
    "randint_like": lambda x: torch.randint_like(x, 2, 7),
    "randperm": lambda x: torch.randperm(6),
    "bernoulli": torch.bernoulli,
    "bernoulli p": lambda x: x.clone().bernoulli_(0.25),
    "bernoulli tensor": lambda x: x.clone().bernoulli_(x),
    "normal numbers": lambda x: torch.normal(1.0, 2.0, (3,)),
    "normal tensors": lambda x: torch.normal(x, x),
    "normal mean": lambda x: torch.normal(x, 2.0),
    "normal std": lambda x: torch.normal(2.0, x),
    "uniform_": lambda x: x.clone().uniform_(-1, 1),
    "normal_": lambda x: x.clone().normal_(1, 2),
    "exponential_": lambda x: x.clone().exponential_(2),
    "geometric_": lambda x: x.clone().geometric_(0.3),
    "cauchy_": lambda x: x.clone().cauchy_(),
    "log_normal_": lambda x: x.clone().log_normal_(),
    "random_": lambda x: x.clone().random_(),
    "random_ to": lambda x: x.clone().random_(9),
    "poisson": torch.poisson,
    "binomial": lambda x: torch.binomial(x * 8, x),
    "multinomial": lambda x: torch.multinomial(x, 2),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_random_is_left_but_one_seed(case: str) -> None:
    module = capture(CASES[case], X)
    before = output_node(module).args[0][0].meta["val"]  # type: ignore[index,union-attr]
    assert replace_random_ops(module)
    module.graph.lint()
    called = targets(module)
    assert called.count(f"{OURS}draw_seed".split(".")[0]) >= 1
    operators = [node.target for node in module.graph.nodes if node.op == "call_function"]
    random = [
        op for op in operators if torch.Tag.nondeterministic_seeded in getattr(op, "tags", ())
    ]
    assert [str(op) for op in random] == [f"{OURS}draw_seed.default"]
    after = output_node(module).args[0][0].meta["val"]  # type: ignore[index,union-attr]
    assert (after.shape, after.dtype) == (before.shape, before.dtype)


def test_places_in_a_graph_have_numbers_of_their_own() -> None:
    module = capture(lambda x: torch.rand_like(x) + torch.rand_like(x), X)
    replace_random_ops(module)
    uniforms = [node for node in module.graph.nodes if f"{OURS}uniform" in str(node.target)]
    seeds, sites = zip(*((node.args[0], node.args[1]) for node in uniforms), strict=True)
    assert len(set(seeds)) == 1
    assert len(set(sites)) == 2


def test_seed_is_saved_for_the_backward_pass_and_never_drawn_again() -> None:
    module = capture(lambda x: torch.rand_like(x) * x, X)
    replace_random_ops(module)
    (seed,) = (node for node in module.graph.nodes if "draw_seed" in str(node.target))
    assert seed.meta["recompute"].name == "MUST_SAVE"


def test_line_of_the_user_is_inherited() -> None:
    module = capture(torch.rand_like, X)
    (node,) = (node for node in module.graph.nodes if node.op == "call_function")
    node.meta["stack_trace"] = "here"
    replace_random_ops(module)
    (uniform,) = (node for node in module.graph.nodes if f"{OURS}uniform" in str(node.target))
    assert uniform.meta["stack_trace"] == "here"


def test_graph_that_is_not_random_is_left_alone() -> None:
    module = capture(torch.sin, X)
    assert not replace_random_ops(module)
    assert targets(module) == ["sin"]
