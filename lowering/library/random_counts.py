"""Distributions whose parameters are tensors: counts, gamma and its kin, and weighted draws."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.precision import wide_dtype, widen
from neuron_compile.lowering.library.random_bits import jax_key, unit


def poisson(seed: Any, site: int, rates: Any) -> Any:
    """`neuron_compile.poisson`: counts in the dtype of `rates`."""
    drawn = jax.random.poisson(jax_key(seed, site), widen(rates), dtype=jnp.int64)
    return drawn.astype(rates.dtype)


def binomial(seed: Any, site: int, count: Any, prob: Any) -> Any:
    """`neuron_compile.binomial`: successes in `count` trials, in the dtype of `count`."""
    wide = wide_dtype(count.dtype)
    drawn = jax.random.binomial(
        jax_key(seed, site), count.astype(wide), prob.astype(wide), dtype=wide
    )
    return drawn.astype(count.dtype)


def gamma(seed: Any, site: int, alpha: Any) -> Any:
    """`neuron_compile.gamma`: of shape `alpha` and rate 1."""
    drawn = jax.random.gamma(jax_key(seed, site), widen(alpha), dtype=wide_dtype(alpha.dtype))
    # PyTorch keeps the draw above zero, whose logarithm users take.
    return jnp.maximum(drawn, jnp.finfo(alpha.dtype).tiny).astype(alpha.dtype)


def dirichlet(seed: Any, site: int, alpha: Any) -> Any:
    """`neuron_compile.dirichlet`: sums to 1 over the last dimension."""
    drawn = jax.random.loggamma(jax_key(seed, site), widen(alpha), dtype=wide_dtype(alpha.dtype))
    return jax.nn.softmax(drawn, axis=-1).astype(alpha.dtype)


def multinomial(seed: Any, site: int, probs: Any, num_samples: int, replacement: bool) -> Any:
    """`neuron_compile.multinomial`: int64 categories drawn by weight, for each row of `probs`."""
    weights = widen(probs)
    rows = weights.reshape(-1, weights.shape[-1])
    draw = _with_replacement if replacement else _without_replacement
    return draw(seed, site, rows, num_samples).reshape(*probs.shape[:-1], num_samples)


def _with_replacement(seed: Any, site: int, rows: Any, num_samples: int) -> Any:
    total = jnp.cumsum(rows, axis=1)
    fraction = unit(seed, site, (rows.shape[0], num_samples), rows.dtype)
    goal = fraction * total[:, -1:]
    # The first category whose running total exceeds the goal; one of weight 0 never does first.
    found = jax.vmap(lambda edges, aims: jnp.searchsorted(edges, aims, side="right"))(total, goal)
    last = jnp.max(jnp.where(rows > 0, lax.broadcasted_iota(jnp.int64, rows.shape, 1), 0), axis=1)
    return jnp.minimum(found.astype(jnp.int64), last[:, None])


def _without_replacement(seed: Any, site: int, rows: Any, num_samples: int) -> Any:
    # Efraimidis and Spirakis (2006): the largest keys of an exponential race.
    race = -jnp.log(unit(seed, site, rows.shape, rows.dtype, centred=True))
    keys = jnp.where(rows > 0, rows / race, -1.0)
    number = lax.broadcasted_iota(jnp.int64, rows.shape, 1)
    return lax.sort((-keys, number), dimension=1, num_keys=1)[1][:, :num_samples]
