"""A resized tensor holds the first elements of its memory."""

from __future__ import annotations

import pytest
import torch

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.replace_resizes import replace_resizes

resize = torch.ops.aten.resize


@pytest.mark.parametrize("shape", [(3, 2), (4,), (), (2, 0), (1, 6)])
def test_first_elements_are_kept_in_order(shape: tuple[int, ...]) -> None:
    x = torch.arange(6.0).view(2, 3)
    module = capture(lambda x: resize(x, shape), x)
    replace_resizes(module)
    assert "resize" not in targets(module)
    assert torch.equal(run(module, x)[0], x.clone().resize_(shape))


def test_new_elements_are_zero() -> None:
    x = torch.ones(2)
    module = capture(lambda x: resize(x, (2, 2)), x)
    replace_resizes(module)
    assert run(module, x)[0].tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_operand_in_another_order_is_left() -> None:
    module = capture(lambda x: resize(x, (6,)), torch.ones(2, 3).t())
    replace_resizes(module)
    assert targets(module) == ["resize"]
