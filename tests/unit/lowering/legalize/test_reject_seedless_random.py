"""Random operators that ignore the seed are refused."""

from __future__ import annotations

import pytest
import torch

from fx_graphs import capture
from neuron_compile import UnsupportedOpError
from neuron_compile.lowering.legalize.reject_seedless_random import reject_seedless_random
from neuron_compile.lowering.legalize.replace_random_ops import replace_random_ops


def test_what_was_not_replaced_is_listed() -> None:
    module = capture(lambda x: torch.rand_like(x) + torch.randn_like(x), torch.ones(2))
    with pytest.raises(UnsupportedOpError) as raised:
        reject_seedless_random(module)
    assert [op.operator for op in raised.value.operations] == [
        "aten.rand_like.default",
        "aten.randn_like.default",
    ]


def test_replaced_operators_pass() -> None:
    module = capture(lambda x: torch.rand_like(x) + x.sin(), torch.ones(2))
    replace_random_ops(module)
    before = module.print_readable(print_output=False)
    reject_seedless_random(module)
    assert module.print_readable(print_output=False) == before
