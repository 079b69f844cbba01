"""Operators that are kept whole for what they refuse."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

from neuron_compile.lowering.checked_ops import one_hot


def test_one_hot_has_a_dimension_of_classes() -> None:
    with FakeTensorMode():
        result = one_hot(torch.zeros(2, 3, dtype=torch.int64), 5)
    assert (result.shape, result.dtype) == ((2, 3, 5), torch.int64)


def test_number_of_classes_that_depends_on_data() -> None:
    with FakeTensorMode(), pytest.raises(DataDependentOutputException):
        one_hot(torch.zeros(2, dtype=torch.int64))
