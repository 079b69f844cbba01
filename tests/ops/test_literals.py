"""Constants written in the user's code, of every dtype, and scalars beside tensors."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from parity import check_parity, compiled

DTYPES = [
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.float64,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
]


@pytest.mark.filterwarnings("ignore:.*computes in float32 what was written in float64")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_literal_of_several_elements(dtype: torch.dtype) -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        literal = torch.tensor([1, 0, 3], dtype=dtype)
        return literal * x.to(dtype), torch.where(literal == 1, x, -x)

    check_parity(function, torch.tensor([1.0, 2.0, 4.0]))


def test_values_of_equal_shape_are_told_apart() -> None:
    check_parity(lambda x: x + torch.tensor([1.0, 2.0, 3.0]), torch.zeros(3))
    check_parity(lambda x: x + torch.tensor([1.0, 2.0, 4.0]), torch.zeros(3))


def test_literals_as_operands_of_searches() -> None:
    x = torch.tensor([0.5, 2.0, -1.0])
    check_parity(lambda x: torch.bucketize(x, torch.tensor([0.0, 1.0, 2.0])), x)


def test_comparisons_of_constants_with_numbers_of_the_other_kind() -> None:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        few, many = torch.tensor([1.0, 0.0, 3.0]), torch.full((90, 90), 2.0, dtype=torch.bfloat16)
        return few == 1, few < 2, torch.tensor([1, 0, 3]) > 0.5, many == 2, (x > 0) == 1

    check_parity(function, torch.ones(3))


@pytest.mark.filterwarnings("ignore:.*computes in float32 what was written in float64")
def test_numbers_do_not_promote_tensors_of_their_kind() -> None:
    check_parity(lambda x: (x * 2.5, x - 2.1, x / 2, x + True, x * 2), torch.arange(4))
    check_parity(lambda x: 2.0 * x + 1, torch.tensor([1.5, 0.5, -10, 255]).bfloat16())
    scalar = torch.tensor(2.0, dtype=torch.float64)
    check_parity(lambda x, s: (x * s, s * x, x.long() * s), torch.arange(4.0), scalar)


def test_infinite_and_bool_constants() -> None:
    x = torch.tensor([[0, 1], [2, 0]])
    check_parity(lambda x: ((x == 0).any(), (x == 0).all(0), x.bool().sum()), x)
    mask = torch.tensor([[True, False, True, False], [False] * 4])
    scores = torch.randn(2, 4, requires_grad=True)
    check_parity(lambda x, m: x.masked_fill(m, float("-inf")).softmax(-1), scores, mask, grad=True)
    check_parity(lambda x: x.masked_fill(x == x, float("-inf")).softmax(-1), torch.randn(2, 4))


def test_product_of_unlike_types_is_refused_as_in_eager() -> None:
    a, b = torch.randn(2, 2), torch.randn(2, 2).bfloat16()
    with pytest.raises(RuntimeError, match="same dtype"):
        a @ b
    with pytest.raises(Exception, match=r"(?s)aten\.mm.*a @ b.*dtype"):
        compiled(lambda a, b: a @ b)(a, b)
