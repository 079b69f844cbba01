"""The bits of float64 numbers are refused; everything else about them is not."""

from __future__ import annotations

import pytest
import torch

from fx_graphs import capture
from neuron_compile.lowering import UnsupportedOpError
from neuron_compile.lowering.legalize.reject_float64_bits import reject_float64_bits

DOUBLES, INTEGERS = torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.int64)


@pytest.mark.parametrize(
    "function,given",
    [
        (lambda x: x.view(torch.int64) + 1, DOUBLES),
        (lambda x: (x * 2).view(torch.int32), DOUBLES),
        (lambda x: x.view(torch.float64) * 2, INTEGERS),
        (lambda x: x.view(torch.complex128), INTEGERS),
    ],
    ids=["out", "computed", "in", "complex"],
)
def test_bits_are_refused_with_the_line(function: object, given: torch.Tensor) -> None:
    with pytest.raises(UnsupportedOpError, match="whose bits are others") as raised:
        reject_float64_bits(capture(function, given))  # type: ignore[arg-type]
    (operation,) = raised.value.operations
    assert operation.operator == "aten.view.dtype"


def test_other_views_are_not() -> None:
    reject_float64_bits(capture(lambda x: (x.view(2, 1), x.float().view(torch.int32)), DOUBLES))
    reject_float64_bits(capture(lambda x: x.view(torch.int32), INTEGERS))
