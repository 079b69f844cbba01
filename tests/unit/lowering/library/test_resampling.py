from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from neuron_compile.lowering.library.resampling import Phases, Taps


def dense(taps: Taps) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """The map as a matrix."""
    matrix = np.zeros((len(taps.place), taps.size), np.float32)
    for row, number in zip(*np.nonzero(taps.place >= 0), strict=True):
        matrix[row, taps.place[row, number]] += taps.weight[row, number]
    return matrix


def taps(size: int, places: list[list[int]], weights: list[list[float]]) -> Taps:
    return Taps(size, np.array(places), np.array(weights, np.float32))


# Twice as many: inner rows mix neighbours 1:3 and 3:1, the outer two repeat the ends.
DOUBLED = taps(
    3,
    [[0, 1], [0, 1], [0, 1], [1, 2], [1, 2], [2, 2]],
    [[1, 0], [0.75, 0.25], [0.25, 0.75], [0.75, 0.25], [0.25, 0.75], [1, 0]],
)
IRREGULAR = taps(4, [[0, -1], [3, 1], [1, 1], [2, 0]], [[2, 0], [1, 1], [0.5, 0.5], [1, -1]])


@pytest.mark.parametrize("mapping", [DOUBLED, IRREGULAR, DOUBLED.transposed()])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_map_is_its_matrix(mapping: Taps, axis: int) -> None:
    shape = [2, 2, 2]
    shape[axis] = mapping.size
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    expected = np.moveaxis(np.moveaxis(values, axis, -1) @ dense(mapping).T, -1, axis)
    np.testing.assert_allclose(mapping.apply(jnp.asarray(values), axis), expected, rtol=1e-6)


def test_transposed_map_is_the_transposed_matrix() -> None:
    for mapping in (DOUBLED, IRREGULAR):
        np.testing.assert_array_equal(dense(mapping.transposed()), dense(mapping).T)


def test_a_map_that_repeats_itself_is_read_in_slices() -> None:
    phases = Phases.of(DOUBLED)
    assert phases is not None
    assert phases.step == 1
    assert phases.start.tolist() == [[-1, 0], [0, 1]]
    assert Phases.of(IRREGULAR) is None


def test_an_element_that_is_not_used_does_not_spread() -> None:
    values = jnp.asarray([[1.0, jnp.inf, jnp.nan]])
    assert DOUBLED.apply(values, 1)[0, 0] == 1
