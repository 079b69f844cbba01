"""Views, empty tensors, order, writes in place."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from parity import check_parity, compiled, neuron_only


def test_strided_view_reads_the_storage() -> None:
    check_parity(lambda x: torch.as_strided(x, (2, 2), (1, 2), 1).clone(), torch.arange(8.0))
    transposed = torch.arange(12.0).view(3, 4).t()
    check_parity(lambda x: torch.as_strided(x, (2, 3), (1, 2), 1).clone(), transposed)


def test_empty_tensors() -> None:
    check_parity(lambda x: x[:0, :0] * 2, torch.randn(5, 5))
    check_parity(nn.Linear(32, 4), torch.randn(1, 0, 32, requires_grad=True), grad=True)

    def reductions(x: Tensor) -> tuple[Tensor, ...]:
        return x.sum(0), x.mean(), x.prod(), torch.cat([x, torch.ones(2, 3)]), x.softmax(1)

    check_parity(reductions, torch.randn(0, 3))


def test_sorting_is_stable_and_nan_is_greatest() -> None:
    check_parity(lambda x: tuple(x.topk(2, -1)), torch.randn(3, 5, requires_grad=True), grad=True)
    ties = torch.tensor([[1.0, 2.0, 2.0, 1.0, float("nan")]])
    for descending in (False, True):
        check_parity(
            lambda x, d=descending: tuple(torch.sort(x, dim=-1, stable=True, descending=d)), ties
        )
    x = torch.randperm(6).float()
    check_parity(lambda x: (tuple(x.topk(1, largest=False)), x.argsort(0), tuple(x.kthvalue(2))), x)


@pytest.mark.parametrize("reduce", ["amax", "amin", "prod", "mean", "sum"])
@pytest.mark.parametrize("include_self", [False, True])
def test_scattered_reductions(reduce: str, include_self: bool) -> None:
    source, index = torch.arange(1.0, 7.0), torch.tensor([0, 1, 0, 1, 2, 1])

    def function(x: Tensor) -> Tensor:
        return x.scatter_reduce(0, index, source, reduce=reduce, include_self=include_self)

    check_parity(function, torch.tensor([1.0, 2.0, 3.0, 4.0]))


def test_triangles_and_diagonals() -> None:
    x = torch.randn(3, 4)
    check_parity(lambda x: (x.tril(-1), x.diagonal(1) * 2, torch.diag_embed(x[0]), x.roll(1, 0)), x)


def test_bits_are_read_as_another_type() -> None:
    def function(x: Tensor) -> tuple[Tensor, ...]:
        return x.view(torch.int32) + 0, x.view(torch.int8) + 0, x.half().view(torch.int16) + 0

    check_parity(function, torch.randn(2, 4))


WIDTHS = [torch.uint8, torch.bool, torch.bfloat16, torch.int32, torch.float32, torch.complex64]


@pytest.mark.parametrize("given", [*WIDTHS, torch.int64], ids=str)
def test_bits_are_read_as_types_of_every_width(given: torch.dtype) -> None:
    bits = torch.randint(0, 2 if given is torch.bool else 100, (2, 16), dtype=torch.uint8)

    def function(x: Tensor) -> list[Tensor]:
        views = [x.view(dtype) for dtype in (*WIDTHS[2:], torch.int64, torch.uint8, torch.float16)]
        return [v.clone() for v in views] + [x[:0].view(torch.int16) + 1]

    check_parity(function, bits.view(given))


@pytest.mark.parametrize("given", [torch.float64, torch.int64], ids=str)
@neuron_only
def test_bits_of_float64_are_refused_since_it_computes_in_float32(given: torch.dtype) -> None:
    x = torch.ones(2, dtype=given)
    other = torch.int64 if given is torch.float64 else torch.float64
    with pytest.raises(Exception, match=r"(?s)aten\.view\.dtype.*whose bits are others"):
        compiled(lambda x: x.view(other) + 1)(x)


def test_writes_in_place_reach_the_caller_once() -> None:
    check_parity(lambda t: t.zero_(), torch.randn(3))
    check_parity(lambda t: (t.add_(1), t.view(-1).mul_(2))[0], torch.randn(2, 2))
