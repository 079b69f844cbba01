"""Products that eager refuses are refused with their types."""

from __future__ import annotations

import pytest
import torch
from torch.fx import GraphModule

from fx_graphs import capture
from neuron_compile.lowering.errors import UnsupportedOpError
from neuron_compile.lowering.legalize.reject_mixed_types import reject_mixed_types

mm = torch.ops.aten.mm.default


def mixed() -> GraphModule:
    # Eager would refuse while it traces, so the type is changed afterwards.
    module = capture(mm, torch.ones(2, 2), torch.ones(2, 2))
    second = module.graph.find_nodes(op="placeholder")[1]
    second.meta["val"] = second.meta["val"].bfloat16()
    return module


def test_product_of_unlike_types_is_refused() -> None:
    with pytest.raises(UnsupportedOpError, match=r"torch\.bfloat16 and torch\.float32"):
        reject_mixed_types(mixed())


def test_product_of_like_types_passes() -> None:
    reject_mixed_types(capture(mm, torch.ones(2, 2), torch.ones(2, 2)))
