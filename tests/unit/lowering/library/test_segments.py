from __future__ import annotations

import pytest
import torch

from neuron_compile.lowering.errors import UnsupportedOpError
from unit.lowering.library.against_eager import check, overload, run

NAN = float("nan")
ROWS = torch.tensor([[1.0, 2.0], [3.0, NAN], [5.0, 6.0], [7.0, 0.0], [7.0, -1.0]])
LENGTHS = torch.tensor([2, 0, 3])
REDUCTIONS = ["sum", "mean", "prod", "max", "min"]


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("initial", [None, 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_segments_of_rows(reduce: str, initial: float | None, dtype: torch.dtype) -> None:
    name = "aten.segment_reduce.default"
    check(name, ROWS.to(dtype), reduce, lengths=LENGTHS, initial=initial)
    offsets = torch.tensor([0, 2, 2, 5])
    check(name, ROWS.to(dtype), reduce, offsets=offsets, initial=initial)


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_segments_of_each_row(reduce: str) -> None:
    lengths = torch.tensor([[1, 3], [2, 2]])
    check("aten.segment_reduce.default", torch.randn(2, 4, 3), reduce, lengths=lengths, axis=1)


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("initial", [None, 2.0])
@pytest.mark.parametrize("slope", [1.0, -3.0])
def test_gradient(reduce: str, initial: float | None, slope: float) -> None:
    values = torch.tensor([[1.0, 1.0, 3.0, 0.0, 0.0, 2.0, 0.0, 4.0, 4.0]]).T.contiguous()
    lengths = torch.tensor([3, 3, 0, 3])
    own = {"lengths": lengths, "axis": 0, "initial": initial}
    leaf = values.clone().requires_grad_()
    result = overload("aten.segment_reduce.default")(leaf, reduce, **own)
    grad = torch.full_like(result, slope)
    (expected,) = torch.autograd.grad(result, leaf, grad)
    name = "aten._segment_reduce_backward.default"
    (actual,) = run(name, [expected], grad, result.detach(), values, reduce, **own)
    torch.testing.assert_close(actual, expected)


def test_what_eager_refuses_too() -> None:
    for reduce, given in (("median", {"lengths": LENGTHS}), ("sum", {})):
        with pytest.raises(UnsupportedOpError):
            run("aten.segment_reduce.default", [torch.empty(3, 2)], ROWS, reduce, **given)
