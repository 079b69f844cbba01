"""Results have eager's strides, since user code may call `.view` on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parity import check_parity, compiled
from semantics.case_names import source_text

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.sin(),
        lambda x: x.t(),
        lambda x: x.t() + 1,
        lambda x: (x + 1).t(),
        lambda x: (x * 2).t().contiguous(),
        lambda x: x.sum(0, keepdim=True).expand(5, 4),
        lambda x: (x + 1)[:, ::2],
        lambda x: (x + 1)[1:, 1:],
        lambda x: torch.empty_like(x).fill_(1),
        lambda x: torch.zeros_like(x) + x.t().t(),
        lambda x: x @ x.t(),
        lambda x: torch.einsum("ij,kj->ki", x, x),
        lambda x: torch.stack([x, x], dim=-1).movedim(-1, 0),
        lambda x: x.unfold(1, 2, 1) * 1,
        lambda x: torch.where(x > 0, x, x.clone()),
        lambda x: x.cumsum(0),
        lambda x: x.softmax(0),
        lambda x: x.bfloat16(),
        lambda x: x.sort(0),
        lambda x: x.max(0),
    ],
    ids=source_text,
)
@pytest.mark.parametrize("transposed", [False, True])
def test_matrix_results(function: Callable[[Tensor], Any], transposed: bool) -> None:
    x = torch.randn(4, 4)
    check_parity(function, x.t() if transposed else x)


def attention_heads(x: Tensor) -> tuple[Tensor, Tensor]:
    heads = x.view(2, 3, 2, 4).transpose(1, 2)
    return heads * 2, (heads + 1).transpose(1, 2).reshape(2, 3, 8)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.permute(2, 0, 1) * 2,
        lambda x: (x * 2).permute(1, 2, 0),
        lambda x: (x * 2).movedim(0, -1).relu(),
        lambda x: x.transpose(0, 2) + x.transpose(0, 2),
        lambda x: (x.mean(1), x.mean(1, keepdim=True)),
        attention_heads,
        lambda x: torch.bmm(x, x.transpose(1, 2)).transpose(1, 2),
    ],
    ids=source_text,
)
def test_three_dimensional_results(function: Callable[[Tensor], Any]) -> None:
    check_parity(function, torch.randn(2, 3, 8))


@pytest.mark.parametrize(
    "module",
    [
        nn.Conv2d(3, 4, 3),
        nn.Conv2d(3, 6, 3, groups=3, padding=1, bias=False),
        nn.ConvTranspose2d(3, 4, 2, stride=2),
        nn.BatchNorm2d(3),
        nn.GroupNorm(3, 3),
        nn.MaxPool2d(2),
        nn.AvgPool2d(2),
        nn.AdaptiveAvgPool2d(2),
        nn.Upsample(scale_factor=2),
        nn.PixelShuffle(1),
        nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)),
    ],
    ids=lambda module: type(module).__name__,
)
@pytest.mark.parametrize(
    "memory_format", [torch.contiguous_format, torch.channels_last], ids=["nchw", "nhwc"]
)
def test_image_results_and_gradients(module: nn.Module, memory_format: torch.memory_format) -> None:
    torch.manual_seed(0)
    x = torch.randn(2, 3, 8, 8).to(memory_format=memory_format).requires_grad_()
    check_parity(module, x, grad=True, bound=1e-4)


def test_convolution_with_channels_last_weights() -> None:
    module = nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    check_parity(module, torch.randn(2, 3, 6, 6, requires_grad=True), grad=True, bound=1e-4)


def test_channels_last_results_joined_with_contiguous_ones() -> None:
    x, y = torch.randn(1, 3, 4, 4), torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last)
    check_parity(lambda a, b: (a + b, b + a, torch.cat([a, b], 1), torch.cat([b, a], 1)), x, y)


def test_three_dimensional_convolution_keeps_channels_last() -> None:
    x = torch.randn(1, 2, 4, 4, 4).to(memory_format=torch.channels_last_3d)
    check_parity(nn.Conv3d(2, 3, 2), x, bound=1e-4)


def test_view_of_a_result_works_where_it_works_in_eager() -> None:
    function = compiled(lambda x: F.relu(x.permute(0, 2, 3, 1)))
    x = torch.randn(2, 3, 4, 4).to(memory_format=torch.channels_last)
    assert function(x).view(32, 3).shape == (32, 3)


def test_changed_memory_format_of_one_shape_changes_the_result() -> None:
    function = compiled(lambda x: x * 2)
    x = torch.randn(2, 3, 4, 4)
    for memory_format in (torch.contiguous_format, torch.channels_last, torch.contiguous_format):
        y = x.to(memory_format=memory_format)
        assert function(y).stride() == y.stride()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:0].t(),
        lambda x: x.new_empty(0, 3).t(),
        lambda x: x.sum((0, 1)).expand(2, 0),
        lambda x: x.view(1, 4, 1, 4).permute(3, 2, 1, 0) + 1,
    ],
    ids=source_text,
)
def test_results_with_dimensions_of_size_zero_and_one(function: Callable[[Tensor], Any]) -> None:
    check_parity(function, torch.randn(4, 4))
