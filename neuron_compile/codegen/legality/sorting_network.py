"""Sorting along a dimension by compare and exchange alone.

A bitonic network (Batcher, "Sorting networks and their applications", 1968) needs slices, one
comparison and selections, which every device has. Ties are broken by the original position, so the
sort is stable whatever the comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.tensor_ops import (
    compare,
    element_of,
    integer,
    iota,
    pad,
    reshape,
    shape_of,
    slice_along,
    splat,
)

Precedes = Callable[[list[Any], list[Any]], Any]


def sort_by_network(arrays: list[Any], axis: int, precedes: Precedes) -> tuple[list[Any], Any]:
    """The arrays sorted alike along `axis`, and the original positions (`i32`) in that order.

    `precedes(a, b)` builds, for two lists of equally shaped tensors, whether `a` comes before `b`.
    """
    size = shape_of(arrays[0])[axis]
    width = 1 << max(size - 1, 0).bit_length()
    places = iota(shape_of(arrays[0]), axis, integer(32))
    padded = [_pad_end(array, axis, width - size) for array in arrays]
    padded.append(_pad_end(places, axis, width - size, filler=size))

    def is_before(a: list[Any], b: list[Any]) -> Any:
        *left, left_place = a
        *right, right_place = b
        is_tie = stablehlo.not_(precedes(right, left))
        is_first = stablehlo.and_(is_tie, compare(left_place, right_place, "LT"))
        order = stablehlo.or_(precedes(left, right), is_first)
        if width == size:
            return order
        end = splat(size, shape_of(left_place), integer(32))
        pads = compare(right_place, end, "EQ"), compare(left_place, end, "EQ")
        return stablehlo.and_(stablehlo.or_(order, pads[0]), stablehlo.not_(pads[1]))

    run = 2
    while run <= width:
        # Mirrored halves make every exchange go the same way.
        padded = _exchange(padded, axis, run, is_before, is_mirrored=True)
        step = run // 2
        while step >= 2:
            padded = _exchange(padded, axis, step, is_before, is_mirrored=False)
            step //= 2
        run *= 2
    *ordered, positions = [slice_along(array, axis, 0, size) for array in padded]
    return ordered, positions


def _exchange(
    arrays: list[Any], axis: int, run: int, is_before: Precedes, *, is_mirrored: bool
) -> list[Any]:
    """Compare the two halves of every stretch of `run` elements, and put the earlier one first."""
    shape = shape_of(arrays[0])
    split = (*shape[:axis], shape[axis] // run, run, *shape[axis + 1 :])
    within = axis + 1
    low, high = [], []
    for array in arrays:
        stretches = reshape(array, split)
        low.append(slice_along(stretches, within, 0, run // 2))
        upper = slice_along(stretches, within, run // 2, run)
        high.append(stablehlo.reverse(upper, [within]) if is_mirrored else upper)
    swaps = is_before(high, low)
    merged = []
    for first, second in zip(low, high, strict=True):
        lower = stablehlo.select(swaps, second, first)
        upper = stablehlo.select(swaps, first, second)
        if is_mirrored:
            upper = stablehlo.reverse(upper, [within])
        merged.append(reshape(stablehlo.concatenate([lower, upper], within), shape))
    return merged


def _pad_end(array: Any, axis: int, amount: int, filler: int = 0) -> Any:
    if amount == 0:
        return array
    rank = len(shape_of(array))
    zeros = [0] * rank
    high = [amount if d == axis else 0 for d in range(rank)]
    return pad(array, splat(filler, (), element_of(array)), zeros, high, zeros)
