"""Random bits as a pure function of a seed, and what all distributions are made from.

One int64 seed and the number of the call site fill the 128-bit state of XLA's Threefry generator:
the seed is the key, the site the upper half of the counter. So sites never overlap (each has 2^40
blocks of its own), and the same seed and site give the same numbers on every device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from neuron_compile.lowering.library.precision import wide_dtype

# Bits of a uniform number's mantissa: as many as PyTorch's generators use for the dtype.
_DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}


def random_bits(seed: Any, site: int, shape: Sequence[int], dtype: Any) -> Any:
    """Uniform bits of an unsigned dtype (uint32 or uint64)."""
    halves = _halves(seed)
    state = jnp.stack(
        [halves[0], halves[1], jnp.uint32(0), jnp.asarray((site << 8) % 2**32, jnp.uint32)]
    )
    _, drawn = lax.rng_bit_generator(
        state, tuple(shape), dtype=dtype, algorithm=lax.RandomAlgorithm.RNG_THREE_FRY
    )
    return drawn


def bits(seed: Any, site: int, shape: Sequence[int]) -> Any:
    """`neuron_compile.bits`: int64 numbers whose 64 bits are all random."""
    return lax.bitcast_convert_type(random_bits(seed, site, shape, jnp.uint64), jnp.int64)


def unit(seed: Any, site: int, shape: Sequence[int], dtype: Any, *, centred: bool = False) -> Any:
    """Multiples of 2^-digits in [0, 1), in the wide dtype; `centred` shifts them into (0, 1)."""
    dtype = jnp.dtype(dtype)
    digits = _DIGITS[dtype.name]
    word = jnp.uint64 if digits > 32 else jnp.uint32
    drawn = random_bits(seed, site, shape, word) >> (jnp.iinfo(word).bits - digits)
    wide = wide_dtype(dtype)
    if centred:
        # One bit fewer, so that the half added below is exact and 1.0 is never reached.
        digits -= 1
        return ((drawn >> 1).astype(wide) + 0.5) * np.asarray(2.0**-digits, wide)
    return drawn.astype(wide) * np.asarray(2.0**-digits, wide)


def jax_key(seed: Any, site: int) -> Any:
    """A JAX key for distributions that draw until they accept, where JAX's own sampler is used."""
    key = jax.random.wrap_key_data(jnp.stack(_halves(seed)), impl="threefry2x32")
    return jax.random.fold_in(key, site)


def _halves(seed: Any) -> tuple[Any, Any]:
    word = seed.reshape(())
    low = (word & 0xFFFFFFFF).astype(jnp.uint32)
    high = ((word >> 32) & 0xFFFFFFFF).astype(jnp.uint32)
    return low, high
