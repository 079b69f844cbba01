"""Index tensors wrap from the end as in eager, and raise out of range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from parity import check_parity, compiled, neuron_only, raises_like_eager

TABLE = torch.arange(12.0).view(6, 2)
BAD = torch.tensor([2, 9])


def store(x: Tensor, i: Tensor) -> Tensor:
    y = x.clone()
    y[i] = 9.0
    return y


def test_negative_indices_read_from_the_end() -> None:
    check_parity(
        lambda x, i: x[i], TABLE.clone().requires_grad_(), torch.tensor([-1, 0, -5]), grad=True
    )
    columns = torch.tensor([[-2, 1], [4, -5]])
    check_parity(
        lambda x, i: x[:, i], torch.arange(10.0).view(2, 5).requires_grad_(), columns, grad=True
    )
    check_parity(lambda x, i: x[i, i.abs() - 1], TABLE, torch.tensor([-1, 1, -2]))


def test_negative_indices_write_from_the_end() -> None:
    check_parity(store, torch.zeros(4, 2), torch.tensor([-1, 1]))

    def add(x: Tensor, i: Tensor) -> Tensor:
        return x.index_put((i,), torch.ones(3, 2), accumulate=True)

    check_parity(add, torch.zeros(4, 2, requires_grad=True), torch.tensor([-1, 3, -1]), grad=True)


def test_masks_select_and_store() -> None:
    x, mask = torch.arange(6.0), torch.tensor([True, False, True, True, False, False])
    check_parity(store, x, mask)
    check_parity(lambda x, m: x.masked_fill(m, float("-inf")), x, mask)


OUT_OF_RANGE: dict[str, tuple[Callable[..., Any], Tensor]] = {
    "embedding": (lambda i: F.embedding(i, TABLE), BAD),
    "embedding from the end": (lambda i: F.embedding(i, TABLE), torch.tensor([-2])),
    "index": (lambda i: TABLE[i], BAD),
    "index beyond the start": (lambda i: TABLE[i], torch.tensor([-7])),
    "store": (lambda i: store(TABLE, i), BAD),
    "index_select": (lambda i: TABLE.index_select(0, i), BAD),
    "gather": (lambda i: TABLE.gather(0, i[None]), BAD),
    "gather from the end": (lambda i: TABLE.gather(0, i[None]), torch.tensor([-1])),
    "scatter_add": (lambda i: TABLE.scatter_add(0, i[None], torch.ones(1, 2)), BAD),
    "take": (lambda i: torch.take(TABLE, i), torch.tensor([12])),
    "class targets": (lambda i: F.cross_entropy(torch.zeros(2, 3), i), torch.tensor([0, 7])),
    "embedding_bag": (lambda i: F.embedding_bag(i, TABLE, torch.tensor([0])), BAD),
}


@pytest.mark.parametrize("case", OUT_OF_RANGE)
def test_index_out_of_range_raises(case: str) -> None:
    raises_like_eager(*OUT_OF_RANGE[case])


@neuron_only
def test_error_has_eagers_class_and_the_line() -> None:
    with pytest.raises(IndexError, match=r"out of range in self\n.*test_indices\.py"):
        compiled(lambda i: F.embedding(i, TABLE))(BAD)


@neuron_only
def test_checks_can_be_switched_off() -> None:
    function = compiled(lambda i: TABLE[i], options={"bounds_checks": False})
    good, bad = function(BAD)
    assert good.tolist() == TABLE[2].tolist()
    assert bad.isnan().all(), "never a plausible row"


def test_indices_in_range_do_not_raise() -> None:
    check_parity(lambda i: (TABLE[i], F.embedding(i, TABLE)), torch.tensor([0, 5]))
