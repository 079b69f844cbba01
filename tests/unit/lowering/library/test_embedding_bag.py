from __future__ import annotations

from typing import Any

import pytest
import torch

from neuron_compile.lowering.errors import UnsupportedOpError
from unit.lowering.library.against_eager import check, overload, run

NAN = float("nan")
WEIGHT = torch.tensor(
    [[1.0, -2.0], [3.0, 4.0], [NAN, 0.5], [5.0, -6.0], [7.0, 8.0]], dtype=torch.float32
)
INDICES = torch.tensor([1, 2, 4, 4, 0, 3, 2, 1])
OFFSETS = torch.tensor([0, 2, 2, 5])
SHARES = torch.tensor([0.5, 2.0, -1.0, 3.0, 1.0, 0.25, 1.0, 4.0])


def arguments(**changed: Any) -> tuple[Any, ...]:
    given = {
        "scale": False,
        "mode": 0,
        "sparse": False,
        "shares": None,
        "include_last": False,
        "padding": -1,
    } | changed
    return tuple(given.values())


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("padding", [-1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_bags(mode: int, padding: int, dtype: torch.dtype) -> None:
    weight = WEIGHT.to(dtype)
    rest = arguments(mode=mode, padding=padding)
    check("aten._embedding_bag.default", weight, INDICES, OFFSETS, *rest, same=agree)
    ends = torch.tensor([0, 2, 2, 5, 8])
    rest = arguments(mode=mode, padding=padding, include_last=True)
    check("aten._embedding_bag.default", weight, INDICES, ends, *rest, same=agree)


def agree(expected: list[torch.Tensor], actual: list[torch.Tensor]) -> None:
    """Equal, save that eager does not count in its fast path for a sum."""
    torch.testing.assert_close(actual[0], expected[0], equal_nan=True)
    if expected[1].numel():
        assert actual[1].tolist() == expected[1].tolist()
    if expected[2].any():
        assert actual[2].tolist() == expected[2].tolist()
    if expected[3].ndim == 2:
        assert actual[3].tolist() == expected[3].tolist()


def test_weighted_sum_and_narrow_indices() -> None:
    rest = arguments(shares=SHARES)
    check("aten._embedding_bag.default", WEIGHT, INDICES.int(), OFFSETS.int(), *rest, same=agree)


def test_no_elements() -> None:
    for mode in (0, 1, 2):
        rest = arguments(mode=mode)
        none, bags = torch.empty(0, dtype=torch.int64), torch.zeros(2, dtype=torch.int64)
        results = [torch.empty(2, 2), none, bags, torch.empty(2, 2).long() if mode == 2 else bags]
        pooled, *_ = run("aten._embedding_bag.default", results, WEIGHT, none, bags, *rest)
        assert pooled.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("padding", [-1, 4])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_of_the_rows(mode: int, padding: int, scale: bool, weighted: bool) -> None:
    if (weighted and mode != 0) or (scale and mode == 2):
        return  # eager knows no such gradient
    weight = torch.randn(5, 3, requires_grad=True)
    shares = SHARES if weighted else None
    bags = overload("aten._embedding_bag.default")(
        weight, INDICES, OFFSETS, *arguments(mode=mode, scale=scale, shares=shares, padding=padding)
    )
    grad = torch.randn(bags[0].shape)
    (expected,) = torch.autograd.grad(bags[0], weight, grad)
    (actual,) = run(
        "aten._embedding_bag_backward.default",
        [expected],
        *(grad, INDICES, OFFSETS, *bags[1:], 5, scale, mode, False, shares, padding),
    )
    torch.testing.assert_close(actual, expected)


def test_sparse_gradient_is_refused() -> None:
    grad, none = torch.zeros(4, 2), torch.empty(0, dtype=torch.int64)
    with pytest.raises(UnsupportedOpError, match="sparse"):
        run(
            "aten._embedding_bag_backward.default",
            [WEIGHT],
            *(grad, INDICES, OFFSETS, none, none, none, 5, False, 0, True, None, -1),
        )


@pytest.mark.parametrize("padding", [-1, 4])
def test_gradient_of_the_shares(padding: int) -> None:
    weight = torch.randn(5, 3)
    shares = SHARES.clone().requires_grad_()
    bags = overload("aten._embedding_bag.default")(
        weight, INDICES, OFFSETS, *arguments(shares=shares, padding=padding)
    )
    grad = torch.randn(bags[0].shape)
    (expected,) = torch.autograd.grad(bags[0], shares, grad)
    (actual,) = run(
        "aten._embedding_bag_per_sample_weights_backward.default",
        [expected],
        *(grad, weight, INDICES, OFFSETS, bags[1], 0, padding),
    )
    torch.testing.assert_close(actual, expected)
