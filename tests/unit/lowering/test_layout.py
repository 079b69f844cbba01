"""How a strided tensor maps to a dense array, checked against PyTorch's own views."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from neuron_compile.lowering import TensorSpec
from neuron_compile.lowering.layout import dense_strides, input_layout, physical_layout


def spec(tensor: torch.Tensor) -> TensorSpec:
    return TensorSpec(tuple(tensor.shape), "float32", tuple(tensor.stride()))


shapes = st.lists(st.integers(0, 4), max_size=5).map(tuple)


@given(shapes)
def test_dense_strides_are_pytorchs(shape: tuple[int, ...]) -> None:
    assert dense_strides(shape) == torch.empty(shape).stride()


@given(
    st.lists(st.integers(1, 4), max_size=5).flatmap(
        lambda sizes: st.tuples(st.just(sizes), st.permutations(range(len(sizes))))
    )
)
def test_every_permutation_of_a_dense_array_is_recognized_and_undone(
    case: tuple[list[int], list[int]],
) -> None:
    sizes, order = case
    tensor = torch.arange(torch.Size(sizes).numel()).reshape(sizes).permute(order)
    layout = physical_layout(spec(tensor))
    assert layout is not None
    physical = tensor.as_strided(layout.shape, layout.strides)
    assert physical.is_contiguous()
    assert torch.equal(tensor.permute(layout.order), physical)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12)), max_size=4),
)
def test_layout_is_found_only_where_it_describes_all_of_the_memory(
    dims: list[tuple[int, int]],
) -> None:
    """Any strides at all: a layout, if there is one, addresses what the tensor addresses."""
    shape, strides = tuple(size for size, _ in dims), tuple(stride for _, stride in dims)
    tensor = torch.arange(200).as_strided(shape, strides)
    layout = input_layout(spec(tensor))
    if layout is not None and tensor.numel():
        physical = torch.arange(200).as_strided(layout.shape, layout.strides)
        inverse = [layout.order.index(dim) for dim in range(len(shape))]
        assert torch.equal(physical.permute(inverse), tensor)
        assert physical.is_contiguous()


def test_broadcast_dimension_is_held_once_by_a_result_and_copied_for_an_argument() -> None:
    expanded = torch.empty(3, 1).expand(3, 4)
    layout = physical_layout(spec(expanded))
    assert layout is not None
    assert layout.shape == (3, 1)
    assert input_layout(spec(expanded)) is None


@pytest.mark.parametrize(
    "tensor",
    [
        torch.empty(4, 6)[:, ::2],
        torch.empty(4, 6)[:, 1:3],
        torch.empty(9).as_strided((3, 3), (2, 1)),
        torch.empty(9).as_strided((3, 3), (1, 1)),
        torch.empty(4, 0).as_strided((4, 0), (7, 1)),
    ],
    ids=["step", "gap", "overlap", "diagonal", "empty with other strides"],
)
def test_gaps_and_overlaps_have_no_layout(tensor: torch.Tensor) -> None:
    assert physical_layout(spec(tensor)) is None


def test_dense_layout_is_the_identity() -> None:
    layout = physical_layout(spec(torch.empty(2, 1, 3)))
    assert layout is not None
    assert layout.is_identity
    transposed = physical_layout(spec(torch.empty(3, 2).t()))
    assert transposed is not None
    assert not transposed.is_identity
