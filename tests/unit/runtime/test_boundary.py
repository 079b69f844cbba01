"""Tensors on their way in and out, without a copy where memory allows."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from neuron_compile import ExecutionError
from neuron_compile.lowering.layout import dense_strides, physical_layout
from neuron_compile.lowering.legalize.node_values import spec_of
from neuron_compile.runtime.boundary import entrance, exit_of


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.arange(1, 1 + torch.Size(shape).numel()).to(dtype).reshape(shape)


def entered(tensor: Tensor, like: Tensor | None = None) -> Tensor:
    """`tensor` as it enters a program compiled for `like` (default: for itself)."""
    physical = entrance(spec_of(tensor if like is None else like))(tensor)
    assert physical.stride() == dense_strides(tuple(physical.shape))
    return physical


def left(array: Tensor, like: Tensor) -> Tensor:
    """A program's array as the caller of a graph gets it, whose eager result is `like`."""
    leave = exit_of(spec_of(like))
    return leave(array) if leave else array


def logical(physical: Tensor, like: Tensor) -> Tensor:
    """Undo the permutation that the program itself undoes."""
    layout = physical_layout(spec_of(like))
    if layout is None:
        return physical
    inverse = [layout.order.index(dim) for dim in range(like.dim())]
    return physical.permute(inverse)


@pytest.mark.parametrize(
    "make",
    [
        lambda: numbers(2, 3),
        lambda: numbers(2, 3).t(),
        lambda: numbers(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        lambda: numbers(4, 3)[1:3],
        lambda: numbers(1)[0],
        lambda: numbers(1, 3).expand(1, 3),
        lambda: torch.zeros(0, 3),
        lambda: numbers(2, 1, 3).transpose(0, 1),
    ],
    ids=["dense", "transposed", "channels-last", "offset", "0-d", "size one", "empty", "moved"],
)
def test_permutation_of_a_dense_tensor_enters_where_it_is(make: Callable[[], Tensor]) -> None:
    tensor = make()
    physical = entered(tensor)
    assert physical.data_ptr() == tensor.data_ptr()
    assert torch.equal(logical(physical, tensor), tensor)


@pytest.mark.parametrize(
    "make",
    [
        lambda: numbers(4, 6)[:, ::2],
        lambda: numbers(4, 6)[:, 1:4],
        lambda: numbers(3, 1).expand(3, 4),
        lambda: numbers(9).as_strided((3, 3), (2, 1)),
        lambda: torch.complex(numbers(3), numbers(3)).conj(),
        lambda: torch.complex(numbers(3), numbers(3)).conj().imag,
    ],
    ids=["step", "gap", "expanded", "overlapping", "conjugate", "negative"],
)
def test_other_tensors_enter_as_a_copy(make: Callable[[], Tensor]) -> None:
    tensor = make()
    physical = entered(tensor)
    assert physical.untyped_storage().data_ptr() != tensor.untyped_storage().data_ptr()
    assert not physical.is_conj()
    assert not physical.is_neg()
    assert torch.equal(physical.reshape(tensor.shape), tensor)


def test_strides_other_than_expected_are_put_right() -> None:
    expected = numbers(2, 3)
    given = numbers(3, 2).t()
    assert torch.equal(entered(given, like=expected), given)
    assert torch.equal(logical(entered(expected, like=given), given), expected)


def test_stride_of_a_dimension_of_one_does_not_matter() -> None:
    expected = numbers(1, 3)
    given = numbers(6).as_strided((1, 3), (77, 1))
    assert entered(given, like=expected).data_ptr() == given.data_ptr()


@pytest.mark.parametrize(
    ("wide", "narrow"), [(torch.float64, torch.float32), (torch.complex128, torch.complex64)]
)
def test_wide_types_enter_narrow_and_leave_wide(wide: torch.dtype, narrow: torch.dtype) -> None:
    tensor = numbers(3, 2, dtype=wide).t()
    physical = entered(tensor)
    assert physical.dtype == narrow
    back = left(physical, tensor)
    assert back.dtype == wide
    assert back.stride() == tensor.stride()
    assert torch.equal(back, tensor)


@pytest.mark.parametrize(
    "make",
    [
        lambda: numbers(2, 3),
        lambda: numbers(2, 3).t(),
        lambda: numbers(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        lambda: numbers(3, 1).expand(3, 4),
        lambda: torch.zeros(2, 0),
        lambda: numbers(1)[0],
    ],
    ids=["dense", "transposed", "channels-last", "expanded", "empty", "0-d"],
)
def test_result_gets_eagers_strides_without_a_copy(make: Callable[[], Tensor]) -> None:
    like = make()
    layout = physical_layout(spec_of(like))
    assert layout is not None
    array = like.as_strided(layout.shape, layout.strides).clone()
    result = left(array, like)
    assert result.data_ptr() == array.data_ptr()
    assert result.stride() == like.stride()
    assert torch.equal(result, like)


def test_result_with_gaps_is_laid_out_anew() -> None:
    like = numbers(4, 6)[:, ::2]
    result = left(like.contiguous(), like)
    assert result.stride() == like.stride()
    assert torch.equal(result, like)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (torch.zeros(2, 4), "torch.float32 (2, 4) instead of torch.float32 (2, 3)"),
        (
            torch.zeros(2, 3, dtype=torch.int64),
            "torch.int64 (2, 3) instead of torch.float32 (2, 3)",
        ),
    ],
)
def test_another_shape_or_type_is_refused(given: Tensor, expected: str) -> None:
    with pytest.raises(ExecutionError) as raised:
        entered(given, like=torch.zeros(2, 3))
    assert raised.value.where == (expected,)


def test_another_device_is_refused_with_advice() -> None:
    with pytest.raises(ExecutionError) as raised:
        entered(torch.zeros(2, 3, device="meta"), like=torch.zeros(2, 3))
    assert str(raised.value).splitlines() == [
        "a tensor on meta was passed to a graph compiled for neuron",
        "Why:  the host target computes on CPU tensors.",
        'Try:  move it with tensor.to("cpu"), or keep it out of the compiled region.',
    ]
