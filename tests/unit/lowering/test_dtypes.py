"""The table of element types agrees with PyTorch, NumPy and MLIR."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch
from jaxlib.mlir import ir

from neuron_compile.lowering.dtypes import ELEMENT_TYPES, tensor_type
from neuron_compile.lowering.library.link import mlir_context


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_names_and_widths_agree(name: str) -> None:
    entry = ELEMENT_TYPES[name]
    numpy_type = np.dtype(getattr(ml_dtypes, entry.numpy, entry.numpy))
    assert entry.itemsize == getattr(torch, name).itemsize == numpy_type.itemsize
    assert entry.numpy == numpy_type.name


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_mlir_reads_the_type(name: str) -> None:
    with mlir_context():
        parsed = ir.RankedTensorType(ir.Type.parse(tensor_type((2, 3), name)))
    assert list(parsed.shape) == [2, 3]
    assert str(parsed.element_type) == ELEMENT_TYPES[name].mlir


def test_scalar_type_has_no_sizes() -> None:
    assert tensor_type((), "int64") == "tensor<i64>"
