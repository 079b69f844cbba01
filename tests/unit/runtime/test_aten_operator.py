from __future__ import annotations

import json
from typing import Any

import pytest
import torch

from neuron_compile.lowering.library.arguments import DType, Operand, encode_arguments
from neuron_compile.pjrt.foreign_function import BufferView
from neuron_compile.runtime import aten_operator as module
from neuron_compile.runtime.aten_operator import aten_operator

ELEMENTS = {torch.float32: 11, torch.int64: 5, torch.complex64: 15}


def view(tensor: torch.Tensor) -> BufferView:
    return BufferView(tensor.data_ptr(), ELEMENTS[tensor.dtype], tuple(tensor.shape))


def described(operator: str, results: list[int], *args: Any, **kwargs: Any) -> str:
    call = encode_arguments(args, kwargs)
    return json.dumps({"operator": operator, "arguments": call, "results": results})


X = torch.tensor([[3.0, 1.0, 2.0], [0.5, 0.5, 0.25]])


def test_all_results_are_written_in_place() -> None:
    values, indices = torch.empty(2, 3), torch.empty(2, 3, dtype=torch.int64)
    text = described("aten.sort.default", [0, 1], Operand(0), 1, True)
    assert module._parsed(text).writing is torch.ops.aten.sort.values
    aten_operator([view(X)], [view(values), view(indices)], text)
    assert torch.equal(values, X.sort(1, True)[0])
    assert torch.equal(indices, X.sort(1, True)[1])


def test_a_result_that_nobody_wants_is_left_out() -> None:
    indices = torch.empty(2, 2, dtype=torch.int64)
    aten_operator(
        [view(X)], [view(indices)], described("aten.topk.default", [1], Operand(0), 2, -1)
    )
    assert indices.tolist() == [[0, 2], [0, 1]]


def test_a_type_that_the_program_does_not_have_is_converted() -> None:
    total = torch.empty(2, 3)
    text = described("aten.cumsum.default", [0], Operand(0), 1, dtype=DType("float64"))
    aten_operator([view(X)], [view(total)], text)
    assert torch.equal(total, X.cumsum(1))


def test_an_operator_without_an_overload_that_writes_is_copied_from() -> None:
    pairs = torch.empty(3, 2)
    z = torch.tensor([1 + 2j, 3 - 1j, 0j])
    text = described("aten.view_as_real.default", [0], Operand(0))
    assert module._parsed(text).writing is None
    aten_operator([view(z)], [view(pairs)], text)
    assert torch.equal(pairs, torch.view_as_real(z))


def test_what_aten_raises_is_raised() -> None:
    with pytest.raises(IndexError):
        aten_operator([view(X)], [view(X)], described("aten.cumsum.default", [0], Operand(0), 7))
