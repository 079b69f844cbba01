from __future__ import annotations

import pytest
import torch

from fx_graphs import capture, targets
from neuron_compile.lowering.decompose.ranges import linspace_decompositions


@pytest.mark.parametrize(("dtype", "is_whole"), [(torch.int64, True), (torch.float32, False)])
def test_linspace_of_integers_is_left_whole(dtype: torch.dtype, is_whole: bool) -> None:
    graph = capture(
        lambda x: x + torch.linspace(0, 4.5, 3, dtype=dtype),
        torch.zeros(3),
        decompositions=linspace_decompositions(),
    )
    assert ("linspace" in targets(graph)) == is_whole
