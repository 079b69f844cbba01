"""A copy into a tensor is its source in the tensor's shape and dtype."""

from __future__ import annotations

import torch

from fx_graphs import capture, run, targets
from neuron_compile.lowering.legalize.replace_copies import replace_copies

copy = torch.ops.aten.copy


def test_source_is_converted_and_expanded() -> None:
    target, source = torch.zeros(2, 3, dtype=torch.int32), torch.tensor([1.7, -2.2, 3.0])
    module = capture(copy, target, source)
    replace_copies(module)
    assert targets(module) == ["_to_copy", "expand"]
    (result,) = run(module, target, source)
    assert result.dtype == torch.int32
    assert result.tolist() == [[1, -2, 3], [1, -2, 3]]


def test_source_of_the_same_type_is_the_result() -> None:
    module = capture(lambda x, y: copy(x, y) + 1, torch.zeros(2), torch.ones(2))
    replace_copies(module)
    assert targets(module) == ["add"]
    assert run(module, torch.zeros(2), torch.ones(2))[0].tolist() == [2.0, 2.0]
