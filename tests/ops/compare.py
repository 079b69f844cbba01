"""Whether a compiled result is eager's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.testing._comparison import default_tolerances
from torch.utils._pytree import tree_flatten

from ops.tolerances import Tolerance

_NARROW = (torch.bfloat16, torch.float16)


def difference(
    expected: Any,
    actual: Any,
    tolerance: Tolerance,
    reference: Callable[[], Any],
    *,
    values: bool = True,
) -> str | None:
    """What is wrong with `actual`, or None.

    Structure, type, shape and dtype must be equal; tensors must agree within the tolerance. Those
    of 16 bits may instead be as near as `expected` to `reference()`, the same result in float64.
    Without `values` the elements are free, as those of random operators are.
    """
    wanted, structure = tree_flatten(expected)
    found, found_structure = tree_flatten(actual)
    if structure != found_structure:
        return f"structure {found_structure}, expected {structure}"
    for place, (want, got) in enumerate(zip(wanted, found, strict=True)):
        problem = _difference(want, got, tolerance, values)
        if problem and _may_be_nearer(want) and _is_nearer(want, got, _leaf(reference, place)):
            continue
        if problem:
            return f"result {place}: {problem}"
    return None


def _difference(want: Any, got: Any, tolerance: Tolerance, values: bool) -> str | None:
    if not isinstance(want, Tensor):
        same = type(want) is type(got) and (want == got or want != want)
        return None if same or not values else f"{got!r}, expected {want!r}"
    if not isinstance(got, Tensor):
        return f"{got!r}, expected a tensor"
    if (want.shape, want.dtype) != (got.shape, got.dtype):
        return f"{got.dtype} {list(got.shape)}, expected {want.dtype} {list(want.shape)}"
    if not values:
        return None
    rtol, atol = _bounds(want.dtype, tolerance)
    try:
        torch.testing.assert_close(got, want, rtol=rtol, atol=atol, equal_nan=True)
    except AssertionError as error:
        return " ".join(str(error).split())
    return None


def _bounds(dtype: torch.dtype, tolerance: Tolerance) -> tuple[float, float]:
    if not (dtype.is_floating_point or dtype.is_complex):
        # Only an entry's own expectation allows integers to differ.
        return (0.0, tolerance.atol) if tolerance.is_given else (0.0, 0.0)
    # What is written in float64 is computed in float32.
    own = default_tolerances(torch.float32 if dtype.itemsize >= 8 else dtype)
    return max(own[0], tolerance.rtol), max(own[1], tolerance.atol)


def _may_be_nearer(want: Any) -> bool:
    return isinstance(want, Tensor) and want.dtype in _NARROW


def _leaf(reference: Callable[[], Any], place: int) -> Tensor | None:
    try:
        leaves = tree_flatten(reference())[0]
    except (RuntimeError, ValueError, TypeError, NotImplementedError):
        # Not every call exists in float64.
        return None
    found = leaves[place] if place < len(leaves) else None
    return found if isinstance(found, Tensor) else None


def _is_nearer(want: Tensor, got: Any, truth: Tensor | None) -> bool:
    if truth is None or not isinstance(got, Tensor) or truth.shape != want.shape:
        return False
    return _error(got, truth) <= _error(want, truth)


def _error(result: Tensor, truth: Tensor) -> float:
    """The greatest distance; infinite where one is finite and the other is not."""
    rounded = truth.to(result.dtype)
    wide = torch.promote_types(result.dtype, torch.float64)
    distance = (result.to(wide) - truth.to(wide)).abs()
    agree = (result == rounded) | (result.isnan() & truth.isnan())
    return float(
        torch.where(agree & ~truth.isfinite(), 0.0, distance).nan_to_num(nan=torch.inf).max()
    )
