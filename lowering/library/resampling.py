"""A linear map along one dimension, each result a weighted sum of a few elements.

Interpolation is such a map, and its gradient is the transposed one; both are known while tracing,
so both gather, and neither scatters.
"""

from __future__ import annotations

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
