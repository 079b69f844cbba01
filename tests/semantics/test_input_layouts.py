"""Arguments that are not plain contiguous tensors: every layout PyTorch lets a user make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor

from parity import check_parity, compiled
from semantics.case_names import source_text

if TYPE_CHECKING:
    from collections.abc import Callable

LAYOUTS: dict[str, Callable[[], Tensor]] = {
    "transposed": lambda: torch.randn(4, 3).t(),
    "permuted": lambda: torch.randn(2, 3, 4).permute(2, 0, 1),
    "channels_last": lambda: torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "channels_last_3d": lambda: torch.randn(1, 2, 3, 2, 2).to(memory_format=torch.channels_last_3d),
    "every_other": lambda: torch.randn(6, 8)[::2, 1::3],
    "expanded": lambda: torch.randn(3, 1).expand(3, 4),
    "expanded_scalar": lambda: torch.randn(()).expand(2, 3),
    "overlapping": lambda: torch.randn(8).as_strided((3, 4), (2, 1)),
    "self_overlapping_window": lambda: torch.randn(9).unfold(0, 3, 2),
    "offset": lambda: torch.randn(20)[5:17].view(3, 4),
    "offset_by_one_element": lambda: torch.randn(17)[1:],
    "offset_into_row": lambda: torch.randn(4, 5)[1:, 2],
    "flipped_by_copy": lambda: torch.randn(3, 4).flip(0),
    "size_one_with_odd_stride": lambda: torch.randn(7).as_strided((1, 3), (99, 2)),
    "empty": lambda: torch.randn(0, 3),
    "empty_transposed": lambda: torch.randn(0, 3).t(),
    "scalar": lambda: torch.randn(()),
    "from_numpy": lambda: torch.from_numpy(torch.randn(5, 2).numpy()[::-1].copy()),
    "detached": lambda: torch.randn(3, requires_grad=True).exp().detach(),
    "high_rank": lambda: torch.randn(1, 2, 1, 2, 1, 2, 1, 2),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout(layout: str) -> None:
    def use(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x.sin() + 1, x.sum(), x.flatten() * 2

    check_parity(use, inputs=lambda: (torch.manual_seed(3), LAYOUTS[layout]())[1:])


@pytest.mark.parametrize(
    "layout", [k for k in LAYOUTS if not k.startswith(("detached", "from_numpy"))]
)
def test_gradient_of_a_leaf_in_this_layout(layout: str) -> None:
    def make() -> tuple[Tensor]:
        torch.manual_seed(3)
        return (LAYOUTS[layout]().requires_grad_(),)

    check_parity(lambda x: x.sin() * x, inputs=make, grad=True)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool]
)
@pytest.mark.parametrize("offset", [1, 3, 5])
def test_storage_offset_that_breaks_alignment(dtype: torch.dtype, offset: int) -> None:
    base = torch.arange(40).remainder(2 if dtype is torch.bool else 7).to(dtype)

    def make() -> tuple[Tensor, Tensor]:
        return base[offset : offset + 16].view(4, 4), base[offset + 16 : offset + 20]

    check_parity(lambda a, b: (torch.where(b == 0, a, b), a == b), inputs=make)


def test_two_layouts_of_one_shape_are_told_apart() -> None:
    function = compiled(lambda x: (x * 2).flatten())
    x = torch.arange(12.0).view(3, 4)
    for layout in (x, x.t().contiguous().t(), torch.arange(24.0).view(3, 8)[:, ::2], x):
        assert torch.equal(function(layout), (layout * 2).flatten())


def test_same_shape_at_changing_addresses_and_offsets() -> None:
    function = compiled(lambda x: x + 1)
    base = torch.arange(100.0)
    for start in (0, 1, 2, 3, 16, 63):
        x = base[start : start + 8]
        assert torch.equal(function(x), x + 1)


def test_matrix_product_of_every_pair_of_layouts() -> None:
    a, b = torch.randn(4, 4), torch.randn(4, 4)

    def products(a: Tensor, b: Tensor) -> list[Tensor]:
        return [a @ b, a.t() @ b, a @ b.t(), a.t() @ b.t()]

    for left in (a, a.t(), a.repeat(1, 2)[:, ::2]):
        check_parity(products, left, b.t(), bound=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.as_strided(x, (2, 2), (1, 2), 1),
        lambda x: torch.as_strided(x, (2, 3), (1, 2), 1).clone(),
        lambda x: x.as_strided((3,), (4,)) * 2,
    ],
    ids=source_text,
)
@pytest.mark.parametrize(
    "make", [lambda: torch.arange(12.0), lambda: torch.arange(12.0).view(3, 4).t()]
)
def test_as_strided_indexes_the_storage(
    function: Callable[[Tensor], Any], make: Callable[[], Tensor]
) -> None:
    check_parity(function, make())


def test_lazily_negated_argument() -> None:
    z = torch.view_as_complex(torch.randn(3, 2)).conj().imag
    assert z.is_neg()
    function = compiled(lambda x: x * 2)
    torch.testing.assert_close(function(z), z * 2)


def test_write_to_an_expanded_argument_is_refused_as_in_eager() -> None:
    def write(x: Tensor) -> Tensor:
        return x.add_(1)

    with pytest.raises(RuntimeError, match="more than one element"):
        write(torch.zeros(1).expand(3))
    with pytest.raises(RuntimeError, match="more than one element"):
        compiled(write)(torch.zeros(1).expand(3))
