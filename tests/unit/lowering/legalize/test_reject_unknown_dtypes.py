"""Element types without a form in a program are refused, all at once."""

from __future__ import annotations

import pytest
import torch

from fx_graphs import capture
from neuron_compile.lowering.errors import UnsupportedOpError
from neuron_compile.lowering.legalize.reject_unknown_dtypes import reject_unknown_dtypes


def test_every_operation_that_makes_one_is_named() -> None:
    module = capture(lambda x: [x.to(torch.uint16), x.to(torch.uint64), x + 1], torch.ones(2))
    with pytest.raises(UnsupportedOpError, match="uint16") as raised:
        reject_unknown_dtypes(module)
    assert [operation.arguments for operation in raised.value.operations] == ["uint16", "uint64"]


def test_usual_types_pass() -> None:
    dtypes = [torch.float32, torch.bfloat16, torch.int8, torch.uint8, torch.bool, torch.complex64]
    module = capture(lambda x: [x.to(dtype) for dtype in dtypes], torch.ones(2))
    reject_unknown_dtypes(module)
