"""Values that eager refuses at run time are refused by compiled code too, never computed with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from parity import compiled, raises_like_eager

if TYPE_CHECKING:
    from collections.abc import Callable

TABLE = torch.arange(12.0).view(6, 2)

BAD: dict[str, tuple[Callable[..., Tensor], tuple[Tensor, ...]]] = {
    "negative_embedding_index": (lambda i: F.embedding(i, TABLE), (torch.tensor([2, -2]),)),
    "large_embedding_index": (lambda i: F.embedding(i, TABLE), (torch.tensor([6]),)),
    "large_index": (lambda i: TABLE[i], (torch.tensor([2, 9]),)),
    "small_index": (lambda i: TABLE[i], (torch.tensor([-7]),)),
    "large_gather_index": (lambda i: TABLE.gather(0, i), (torch.tensor([[7]]),)),
    "large_index_select": (lambda i: TABLE.index_select(0, i), (torch.tensor([6]),)),
    "large_scatter_index": (
        lambda i: TABLE.scatter(0, i, torch.ones(1, 1)),
        (torch.tensor([[8]]),),
    ),
    "large_class": (
        lambda t: F.cross_entropy(torch.zeros(2, 3), t),
        (torch.tensor([0, 7]),),
    ),
    "negative_class": (lambda t: F.nll_loss(torch.zeros(2, 3), t), (torch.tensor([0, -3]),)),
    "large_one_hot_class": (lambda t: F.one_hot(t, 3), (torch.tensor([3]),)),
    "integer_floor_division_by_zero": (
        lambda a, b: a // b,
        (torch.tensor([1, 2]), torch.tensor([0, 1])),
    ),
    "integer_remainder_by_zero": (lambda a, b: a % b, (torch.tensor([5]), torch.tensor([0]))),
    "bernoulli_probability_above_one": (lambda p: torch.bernoulli(p), (torch.tensor([1.5]),)),
    "multinomial_of_nothing": (lambda p: torch.multinomial(p, 1), (torch.zeros(3),)),
}


@pytest.mark.parametrize("name", BAD)
def test_value_is_refused(name: str) -> None:
    function, arguments = BAD[name]
    raises_like_eager(function, *arguments)


def test_function_works_again_after_a_refused_value() -> None:
    function = compiled(lambda i: TABLE[i] * 2)
    good, bad = torch.tensor([5, 0]), torch.tensor([6, 0])
    for _ in range(2):
        assert torch.equal(function(good), TABLE[good] * 2)
        with pytest.raises(Exception, match=r"index|bounds|range"):
            function(bad)


def test_refused_value_changes_no_argument() -> None:
    def use(x: Tensor, i: Tensor) -> Tensor:
        x.add_(1)
        return x[i]

    x = torch.zeros(3)
    with pytest.raises(Exception, match=r"index|bounds|range"):
        compiled(use)(x, torch.tensor([3]))
    assert x.tolist() in ([0.0] * 3, [1.0] * 3)
