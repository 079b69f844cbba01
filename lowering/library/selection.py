"""The first few of many numbers, without sorting them all.

StableHLO compilers have an operator for the k greatest float32s, in IEEE 754's total order; what is
compared here is made into such numbers.
"""

from __future__ import annotations

from typing import Any, Final

import jax.numpy as jnp
from jax import lax

# Sorting is as fast where more than a fourth is wanted.
_SPARE: Final = 4
_BLOCK: Final = 32
_LAST: Final = -(2**31)


def first_places(rows: Any, k: int, largest: bool) -> Any | None:
    """int64 places of the `k` greatest or smallest along the last dimension, the first leading.

    NaN is the greatest, and of equal numbers the first one leads. None where sorting is better:
    many are wanted, or the numbers have more than 32 bits.
    """
    count = rows.shape[-1]
    if rows.size == 0 or count < _SPARE * k or jnp.dtype(rows.dtype).itemsize > 4:
        return None
    keys = order_keys(rows).reshape(-1, count)
    keys = keys if largest else ~keys
    pick = _greatest if count < _BLOCK * _SPARE * k else _greatest_of_blocks
    places = pick(keys, k)
    return places.reshape(*rows.shape[:-1], k).astype(jnp.int64)


def order_keys(array: Any) -> Any:
    """Signed integers in the order of the numbers: zeros are equal, NaN is the greatest.

    Of 32 bits, or of 64 where the numbers have as many.
    """
    if jnp.issubdtype(array.dtype, jnp.floating):
        return _keys_of_floats(array)
    if array.dtype in (jnp.uint32, jnp.uint64):
        signed = jnp.int32 if array.dtype == jnp.uint32 else jnp.int64
        return lax.bitcast_convert_type(array, signed) ^ jnp.iinfo(signed).min
    return array if array.dtype == jnp.int64 else array.astype(jnp.int32)


def _keys_of_floats(array: Any) -> Any:
    # As integers throughout: to XLA's CPU code a subnormal number equals 0.
    is_double = array.dtype == jnp.float64
    integer = jnp.int64 if is_double else jnp.int32
    wide = array if is_double else array.astype(jnp.float32)
    infinity = 0x7FF0000000000000 if is_double else 0x7F800000
    bits = lax.bitcast_convert_type(wide, integer)
    size = bits & jnp.iinfo(integer).max
    key = jnp.where(size == 0, 0, _mirrored(bits))
    return jnp.where(size > infinity, jnp.iinfo(integer).max, key)


def _greatest_of_blocks(keys: Any, k: int) -> Any:
    """The k greatest lie in the k blocks with the greatest maxima."""
    count, blocks = keys.shape[1], -(-keys.shape[1] // _BLOCK)
    padded = jnp.pad(keys, [(0, 0), (0, blocks * _BLOCK - count)], constant_values=_LAST)
    maxima = jnp.max(padded.reshape(keys.shape[0], blocks, _BLOCK), axis=2)
    # In the order of places, so that of equal numbers the first one leads.
    chosen = lax.sort(_greatest(maxima, k), dimension=1, is_stable=False)
    place = chosen[:, :, None] * _BLOCK + jnp.arange(_BLOCK, dtype=jnp.int32)
    place = place.reshape(keys.shape[0], -1)
    candidates = jnp.take_along_axis(keys, jnp.minimum(place, count - 1), axis=1)
    candidates = jnp.where(place < count, candidates, _LAST)
    return jnp.take_along_axis(place, _greatest(candidates, k), axis=1)


def _greatest(keys: Any, k: int) -> Any:
    return lax.top_k(lax.bitcast_convert_type(_mirrored(keys), jnp.float32), k)[1]


def _mirrored(bits: Any) -> Any:
    """From a float's bits to its key, and back: negative numbers are in reverse order."""
    return jnp.where(bits < 0, bits ^ jnp.iinfo(bits.dtype).max, bits)
