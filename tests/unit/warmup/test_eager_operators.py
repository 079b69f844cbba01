"""Operators of our namespace in eager PyTorch."""

from __future__ import annotations

import pytest
import torch

from neuron_compile.lowering import from_fx  # noqa: F401 - defines all of them
from neuron_compile.lowering.random_ops import NAMESPACE
from neuron_compile.warmup.eager_operators import eager_operator


def test_every_operator_is_there() -> None:
    schemas = torch._C._jit_get_all_schemas()
    names = {s.name.partition("::")[2] for s in schemas if s.name.startswith(f"{NAMESPACE}::")}
    assert {"draw_seed", "bernoulli", "one_hot"} <= names
    assert all(callable(eager_operator(name)) for name in names)


def test_classes_are_checked() -> None:
    rows = eager_operator("one_hot")(torch.tensor([2, 0]), 3)
    assert rows.tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(RuntimeError, match="smaller than num_classes"):
        eager_operator("one_hot")(torch.tensor([3]), 3)
