"""Distributions with a closed form: uniform, normal, integers, permutations and their kin.

Every function takes the seed tensor, the number of its call site, and the distribution's
parameters. None of them follows the sequence of PyTorch's own generator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from neuron_compile.lowering.library.precision import wide_dtype
from neuron_compile.lowering.library.random_bits import random_bits, unit


def uniform(seed: Any, site: int, shape: Sequence[int], low: float, high: float, dtype: Any) -> Any:
    """`neuron_compile.uniform`: in [low, high), with the dtype's own resolution of [0, 1).

    Both parts of a complex number are.
    """
    dtype = jnp.dtype(dtype)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return _from_parts(uniform(seed, site, (*shape, 2), low, high, _part(dtype)))
    fraction = unit(seed, site, shape, dtype)
    wide = fraction.dtype
    drawn = (fraction * np.asarray(high - low, wide) + np.asarray(low, wide)).astype(dtype)
    # Scaling rounds, at times up to `high`, which is not part of the interval.
    bounds = np.asarray([low, high], dtype)
    below = np.nextafter(bounds[1], bounds[0])
    return jnp.where(drawn >= bounds[1], below, drawn) if low < high else drawn


def normal(seed: Any, site: int, shape: Sequence[int], mean: float, std: float, dtype: Any) -> Any:
    """`neuron_compile.normal`: the parts of a complex number have half the variance each."""
    dtype = jnp.dtype(dtype)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        parts = normal(seed, site, (*shape, 2), 0.0, std / math.sqrt(2), _part(dtype))
        return _from_parts(parts) + np.asarray(mean, dtype)
    drawn = standard_normal(seed, site, shape, wide_dtype(dtype))
    return (drawn * np.asarray(std, drawn.dtype) + np.asarray(mean, drawn.dtype)).astype(dtype)


def scaled_normal(seed: Any, site: int, std: Any, shape: Sequence[int], dtype: Any) -> Any:
    """`neuron_compile.scaled_normal`: mean 0, and a deviation for each element."""
    dtype = jnp.dtype(dtype)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return normal(seed, site, shape, 0.0, 1.0, dtype) * std.astype(dtype)
    drawn = standard_normal(seed, site, shape, wide_dtype(dtype))
    return (drawn * std.astype(drawn.dtype)).astype(dtype)


def bernoulli(seed: Any, site: int, probs: Any, shape: Sequence[int], dtype: Any) -> Any:
    """`neuron_compile.bernoulli`: 1 with the probability of the element, else 0."""
    exact = jnp.float64 if probs.dtype == jnp.float64 else jnp.float32
    fraction = unit(seed, site, shape, exact)
    return (fraction < probs.astype(fraction.dtype)).astype(jnp.dtype(dtype))


def log_normal(
    seed: Any, site: int, shape: Sequence[int], mean: float, std: float, dtype: Any
) -> Any:
    """`neuron_compile.log_normal`: the exponential of a normal number."""
    dtype = jnp.dtype(dtype)
    drawn = standard_normal(seed, site, shape, wide_dtype(dtype))
    exponent = drawn * np.asarray(std, drawn.dtype) + np.asarray(mean, drawn.dtype)
    return jnp.exp(exponent).astype(dtype)


def standard_normal(seed: Any, site: int, shape: Sequence[int], dtype: Any) -> Any:
    """Normal numbers of mean 0 and deviation 1, by inverting the error function."""
    fraction = unit(seed, site, shape, dtype, centred=True)
    return lax.erf_inv(fraction * 2 - 1) * np.asarray(np.sqrt(2.0), fraction.dtype)


def randint(seed: Any, site: int, shape: Sequence[int], low: int, high: int, dtype: Any) -> Any:
    """`neuron_compile.randint`: in [low, high). The bias is below (high - low) / 2^64."""
    span = high - low
    drawn = random_bits(seed, site, shape, jnp.uint64)
    if span < 2**64:
        drawn = drawn % jnp.asarray(span, jnp.uint64)
    offset = lax.bitcast_convert_type(drawn, jnp.int64)
    return (offset + jnp.asarray(low, jnp.int64)).astype(jnp.dtype(dtype))


def randperm(seed: Any, site: int, n: int, dtype: Any) -> Any:
    """`neuron_compile.randperm`: the order of n random 64-bit keys."""
    keys = random_bits(seed, site, (n,), jnp.uint64)
    number = lax.iota(jnp.int64, n)
    return lax.sort((keys, number), num_keys=1)[1].astype(jnp.dtype(dtype))


def exponential(seed: Any, site: int, shape: Sequence[int], rate: float, dtype: Any) -> Any:
    """`neuron_compile.exponential`: above 0."""
    fraction = unit(seed, site, shape, dtype, centred=True)
    return (-jnp.log(fraction) / np.asarray(rate, fraction.dtype)).astype(jnp.dtype(dtype))


def geometric(seed: Any, site: int, shape: Sequence[int], p: float, dtype: Any) -> Any:
    """`neuron_compile.geometric`: the number of the first success, from 1."""
    dtype = jnp.dtype(dtype)
    working = wide_dtype(dtype) if jnp.issubdtype(dtype, jnp.floating) else jnp.dtype(jnp.float64)
    fraction = unit(seed, site, shape, working, centred=True)
    trials = jnp.ceil(jnp.log(fraction) / np.asarray(np.log1p(-p), working)) if p < 1 else fraction
    return jnp.maximum(trials, 1).astype(dtype) if p < 1 else jnp.ones(tuple(shape), dtype)


def cauchy(
    seed: Any, site: int, shape: Sequence[int], median: float, sigma: float, dtype: Any
) -> Any:
    """`neuron_compile.cauchy`."""
    fraction = unit(seed, site, shape, dtype, centred=True)
    wide = fraction.dtype
    drawn = jnp.tan(np.asarray(np.pi, wide) * (fraction - np.asarray(0.5, wide)))
    scaled = drawn * np.asarray(sigma, wide) + np.asarray(median, wide)
    return scaled.astype(jnp.dtype(dtype))


def _part(dtype: Any) -> Any:
    return jnp.dtype(jnp.float64 if dtype == jnp.complex128 else jnp.float32)


def _from_parts(parts: Any) -> Any:
    return lax.complex(parts[..., 0], parts[..., 1])
