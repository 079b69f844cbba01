"""The draw of a seed becomes the graph's last input."""

from __future__ import annotations

import pytest
import torch

from fx_graphs import capture, targets
from neuron_compile import LoweringError
from neuron_compile.lowering import random_ops
from neuron_compile.lowering.legalize.lift_seed import lift_seed
from neuron_compile.lowering.legalize.node_values import placeholders
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops

draw_seed = getattr(torch.ops, random_ops.NAMESPACE).draw_seed


def test_seed_follows_the_other_inputs() -> None:
    module = capture(lambda x, y: torch.rand_like(x) + y, torch.ones(2), torch.ones(2))
    replace_random_ops(module)
    assert lift_seed(module)
    module.graph.lint()
    assert [node.name for node in placeholders(module)][2:] == ["seed"]
    assert placeholders(module)[2].meta["val"].dtype == torch.int64
    assert not any("draw_seed" in target for target in targets(module))


def test_graph_without_inputs_gets_one() -> None:
    module = capture(lambda: torch.rand(2))
    replace_random_ops(module)
    assert lift_seed(module)
    module.graph.lint()
    assert len(placeholders(module)) == 1


def test_graph_that_is_not_random_is_left_alone() -> None:
    module = capture(torch.sin, torch.ones(2))
    assert not lift_seed(module)
    assert len(placeholders(module)) == 1


def test_two_draws_are_our_defect() -> None:
    module = capture(lambda: draw_seed() + draw_seed())
    with pytest.raises(LoweringError, match="more than one seed"):
        lift_seed(module)
