"""A linear map along one dimension, each result a weighted sum of a few elements.

Interpolation is such a map, and its gradient is the transposed one; both are known while tracing,
so both gather, and neither scatters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

# Maps of more elements per result are summed in a loop, to keep the code small.
_UNROLLED = 16


@dataclass(frozen=True, slots=True)
class Taps:
    """Row i of the map: the sum over t of `weight[i, t] * input[place[i, t]]`.

    Places of -1 are not part of the sum. `size` is the length of the input.
    """

    size: int
    place: Any
    weight: Any

    def transposed(self) -> Taps:
        """The map from results back to the input."""
        rows, columns = np.nonzero(self.place >= 0)
        targets, weights = self.place[rows, columns], self.weight[rows, columns]
        order = np.argsort(targets, kind="stable")
        rows, targets, weights = rows[order], targets[order], weights[order]
        counts = np.bincount(targets, minlength=self.size)
        number = np.arange(len(targets)) - np.repeat(np.cumsum(counts) - counts, counts)
        width = max(int(counts.max(initial=0)), 1)
        place = np.full((self.size, width), -1)
        weight = np.zeros((self.size, width), self.weight.dtype)
        place[targets, number], weight[targets, number] = rows, weights
        return Taps(len(self.place), place, weight)

    def apply(self, array: Any, axis: int) -> Any:
        """`array`, of length `size` along `axis`, mapped along it."""
        # Only along the last dimension does a gather read element by element.
        phases = Phases.of(self) if axis == array.ndim - 1 else None
        return self._gathered(array, axis) if phases is None else phases.apply(array, axis)

    def _gathered(self, array: Any, axis: int) -> Any:
        shape = [1] * array.ndim
        shape[axis] = len(self.place)
        place = np.maximum(self.place, 0)
        is_plain = self.place.shape[1] == 1 and bool((self.weight == 1).all())
        if is_plain and bool((self.place >= 0).all()):
            return jnp.take(array, jnp.asarray(place[:, 0]), axis=axis)

        def term(places: Any, weights: Any, used: Any) -> Any:
            taken = jnp.take(array, places, axis=axis) * weights.reshape(shape)
            return jnp.where(used.reshape(shape), taken, 0)

        places = jnp.asarray(place.T)
        weights = jnp.asarray(self.weight.T, array.dtype)
        used = jnp.asarray((self.place >= 0).T)
        count = self.place.shape[1]
        total = term(places[0], weights[0], used[0])
        if count <= _UNROLLED:
            for number in range(1, count):
                total = total + term(places[number], weights[number], used[number])
            return total
        return lax.fori_loop(
            1, count, lambda n, sum_: sum_ + term(places[n], weights[n], used[n]), total
        )


@dataclass(frozen=True, slots=True)
class Phases:
    """A map that repeats itself: rows `p` apart read elements `q` apart.

    Row `m * p + r` reads the elements `start[r, t] + m * q`, those beyond an end standing for the
    last one, with `weight[m, r, t]`. Strided slices read so many times faster than a gather.
    """

    size: int
    step: int
    start: Any
    weight: Any

    @classmethod
    def of(cls, taps: Taps) -> Phases | None:
        """The map in this form, if it has one that is not too long."""
        count, width = taps.place.shape
        repeats = math.gcd(count, taps.size)
        if repeats < 2 or count // repeats > _UNROLLED or width > _UNROLLED:
            return None
        period, step = count // repeats, taps.size // repeats
        place = taps.place.reshape(repeats, period, width)
        middle = repeats // 2
        start = place[middle] - step * middle
        if (place[middle] < 0).any():
            return None
        expected = start + step * np.arange(repeats)[:, None, None]
        expected = np.clip(expected, 0, taps.size - 1).reshape(count, width)
        weight = np.zeros_like(taps.weight)
        # At the ends a row may read the same elements by other taps.
        for row, number in zip(*np.nonzero((taps.place >= 0) & (taps.weight != 0)), strict=True):
            same = np.nonzero(expected[row] == taps.place[row, number])[0]
            if len(same) == 0:
                return None
            weight[row, number if number in same else same[0]] += taps.weight[row, number]
        return cls(taps.size, step, start, weight.reshape(repeats, period, width))

    def apply(self, array: Any, axis: int) -> Any:
        """`array`, of length `size` along `axis`, mapped along it."""
        repeats, period, width = self.weight.shape
        low = max(0, -int(self.start.min()))
        last = int(self.start.max()) + self.step * (repeats - 1)
        pads = [(0, 0)] * array.ndim
        pads[axis] = (low, max(0, last - self.size + 1))
        padded = jnp.pad(array, pads, mode="edge") if any(pads[axis]) else array
        phases = []
        for phase in range(period):
            terms = [self._term(padded, axis, low, phase, number) for number in range(width)]
            phases.append(sum(terms[1:], terms[0]))
        if period == 1:
            return phases[0]
        shape = [*array.shape[:axis], repeats * period, *array.shape[axis + 1 :]]
        return jnp.stack(phases, axis=axis + 1).reshape(shape)

    def _term(self, padded: Any, axis: int, low: int, phase: int, number: int) -> Any:
        repeats = self.weight.shape[0]
        first = int(self.start[phase, number]) + low
        last = first + self.step * (repeats - 1)
        taken = lax.slice_in_dim(padded, first, last + 1, self.step, axis)
        weight = self.weight[:, phase, number]
        if bool((weight == 1).all()):
            return taken
        shape = [1] * padded.ndim
        shape[axis] = repeats
        weighted = taken * jnp.asarray(weight.reshape(shape), padded.dtype)
        used = jnp.asarray((weight != 0).reshape(shape))
        return weighted if bool((weight != 0).all()) else jnp.where(used, weighted, 0)
