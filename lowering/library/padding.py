"""Reflecting, replicating and circular padding of the last dimensions, and the gradients.

Each dimension is a map that copies elements, so the gradient is its transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from neuron_compile.lowering.library.precision import widen
from neuron_compile.lowering.library.resampling import Taps


def reflection(self: Any, padding: Sequence[int]) -> Any:
    """`aten.reflection_pad{1,2,3}d`."""
    return _padded(self, padding, _reflected)


def replication(self: Any, padding: Sequence[int]) -> Any:
    """`aten.replication_pad{1,2,3}d`."""
    return _padded(self, padding, _replicated)


def circular(self: Any, padding: Sequence[int]) -> Any:
    """`aten._pad_circular`."""
    return _padded(self, padding, _wrapped)


def reflection_backward(grad_output: Any, self: Any, padding: Sequence[int]) -> Any:
    """`aten.reflection_pad{1,2,3}d_backward`."""
    return _gradient(grad_output, self, padding, _reflected)


def replication_backward(grad_output: Any, self: Any, padding: Sequence[int]) -> Any:
    """`aten.replication_pad{1,2,3}d_backward`."""
    return _gradient(grad_output, self, padding, _replicated)


def _padded(array: Any, padding: Sequence[int], rule: Any) -> Any:
    for axis, taps in _maps(array, padding, rule):
        array = taps.apply(array, axis)
    return array


def _gradient(grad: Any, array: Any, padding: Sequence[int], rule: Any) -> Any:
    grad = widen(grad)
    for axis, taps in _maps(array, padding, rule):
        grad = taps.transposed().apply(grad, axis)
    return grad


def _maps(array: Any, padding: Sequence[int], rule: Any) -> list[tuple[int, Taps]]:
    """For each padded dimension, from the last on, where its elements come from."""
    maps = []
    for number in range(len(padding) // 2):
        axis = array.ndim - 1 - number
        size, before, after = array.shape[axis], *padding[2 * number : 2 * number + 2]
        place = rule(np.arange(-before, size + after), size)[:, None]
        maps.append((axis, Taps(size, place, np.ones(place.shape, np.float32))))
    return maps


def _reflected(place: Any, size: int) -> Any:
    return (size - 1) - np.abs((size - 1) - np.abs(place))


def _replicated(place: Any, size: int) -> Any:
    return np.clip(place, 0, size - 1)


def _wrapped(place: Any, size: int) -> Any:
    return place % size
