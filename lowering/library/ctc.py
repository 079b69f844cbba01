"""Connectionist temporal classification: the loss of all alignments of a target with a sequence.

Forward and backward variables as in https://www.cs.toronto.edu/~graves/icml_2006.pdf, in the
logarithm. State `2 i + 1` of an alignment stands for the i-th label, the even ones for blanks.

The logarithms are large and the gradient is made of their differences, so that every rounding here
is where ATen rounds; its exponentials and logarithms of float32 are those of the C library, which
computes them in float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.program import TensorSpec

Lengths = Sequence[int] | Any


def loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Lengths,
    target_lengths: Lengths,
    blank: int = 0,
    zero_infinity: bool = False,
    *,
    results: Sequence[TensorSpec | None],
) -> tuple[Any, Any]:
    """`aten._ctc_loss`: the loss `[N]` and the forward variables `[N, T, states]`.

    `log_probs` is `[T, N, classes]`; `targets` is `[N, S]`, or all labels one after another.
    """
    times, sequences = jnp.asarray(input_lengths), jnp.asarray(target_lengths)
    states = results[1].shape[2] if results[1] is not None else _states(targets)
    labels = _labels(targets, sequences, states, blank)
    emitted, may_skip = _emitted(log_probs, labels), _may_skip(labels)
    first = jnp.where(_position(states) < 1 + (sequences > 0)[:, None], emitted[0], -jnp.inf)

    def step(alpha: Any, probability: Any) -> tuple[Any, Any]:
        alpha = _sum_of_three(alpha, may_skip, 1) + probability
        return alpha, alpha

    _, later = lax.scan(step, first, emitted[1:])
    alpha = jnp.moveaxis(jnp.concatenate([first[None], later]), 0, 1)
    ending = jnp.maximum(times - 1, 0)[:, None, None]
    last = jnp.take_along_axis(alpha, ending.astype(jnp.int64), axis=1)[:, 0]
    position, end = _position(states), 2 * sequences[:, None]
    is_end = (position == end) | ((position == end - 1) & (end > 0))
    beyond = jnp.where(is_end, last, -jnp.inf)
    greatest = _finite(jnp.max(beyond, axis=1))
    ways = jnp.sum(_exp(beyond - greatest[:, None]), axis=1)
    likelihood = _log(ways) + greatest
    nothing = jnp.where(sequences == 0, 0.0, jnp.inf)
    return jnp.where(times == 0, nothing, -likelihood), alpha


def loss_backward(
    grad: Any,
    log_probs: Any,
    targets: Any,
    input_lengths: Lengths,
    target_lengths: Lengths,
    neg_log_likelihood: Any,
    log_alpha: Any,
    blank: int,
    zero_infinity: bool = False,
) -> Any:
    """`aten._ctc_loss_backward`: as if `log_probs` were the result of `log_softmax`."""
    times, sequences = jnp.asarray(input_lengths), jnp.asarray(target_lengths)
    states = log_alpha.shape[2]
    labels = _labels(targets, sequences, states, blank)
    emitted, may_skip = _emitted(log_probs, labels), _may_skip(labels)
    # To skip from a state is allowed where it is allowed to skip to the one two further.
    may_leave = jnp.pad(may_skip[:, 2:], [(0, 0), (0, 2)])
    position, end = _position(states), 2 * sequences[:, None]
    is_end = (position == end) | ((position == end - 1) & (end > 0))

    def step(beta: Any, at: tuple[Any, Any]) -> tuple[Any, Any]:
        time, probability = at
        started = jnp.where(is_end, 0.0, -jnp.inf).astype(beta.dtype)
        ahead = jnp.where((time == times - 1)[:, None], started, _sum_of_three(beta, may_leave, -1))
        beta = jnp.where((time < times)[:, None] & (position <= end), ahead + probability, -jnp.inf)
        return beta, beta

    clock = jnp.arange(log_probs.shape[0])
    nowhere = jnp.full(emitted.shape[1:], -jnp.inf, emitted.dtype)
    _, beta = lax.scan(step, nowhere, (clock, emitted), reverse=True)
    loss_of_each = neg_log_likelihood[None, :, None]
    collected = _collected(jnp.moveaxis(log_alpha, 1, 0) + beta, labels, log_probs)
    share = _exp(collected + loss_of_each - log_probs)
    gradient = (_exp(log_probs) - share) * grad[:, None]
    impossible = 0.0 if zero_infinity else jnp.nan
    gradient = jnp.where(jnp.isinf(loss_of_each), impossible, gradient)
    return jnp.where(clock[:, None, None] < times[:, None], gradient, 0)


def _states(targets: Any) -> int:
    return 2 * int(targets.shape[-1]) + 1


def _labels(targets: Any, sequences: Any, states: int, blank: int) -> Any:
    """The class of each state, `[N, states]`; blank beyond a target's end."""
    count = states // 2
    place = jnp.broadcast_to(jnp.arange(count), (sequences.shape[0], count))
    inside = place < sequences[:, None]
    if targets.ndim == 1:
        place = place + (jnp.cumsum(sequences) - sequences)[:, None]
        known = targets.at[place].get(mode="fill", fill_value=blank)
    else:
        known = targets[:, :count]
    known = jnp.where(inside, known, blank).astype(jnp.int64)
    blanks = jnp.full((sequences.shape[0], states), blank, jnp.int64)
    return blanks.at[:, 1::2].set(known)


def _emitted(log_probs: Any, labels: Any) -> Any:
    """The log-probability of each state's class, `[T, N, states]`."""
    return jnp.take_along_axis(log_probs, labels[None], axis=2)


def _may_skip(labels: Any) -> Any:
    """Whether a state can follow the one two before it: between two different labels."""
    is_label = _position(labels.shape[1]) % 2 == 1
    before = jnp.pad(labels[:, :-2], [(0, 0), (2, 0)], constant_values=-1)[:, : labels.shape[1]]
    return is_label & (_position(labels.shape[1]) > 1) & (labels != before)


def _collected(states: Any, labels: Any, log_probs: Any) -> Any:
    """Log of the sum over each class's states, from the last to the first, `[T, N, classes]`."""
    time = lax.broadcasted_iota(jnp.int64, states.shape[:2], 0)
    sequence = lax.broadcasted_iota(jnp.int64, states.shape[:2], 1)

    def step(collected: Any, at: tuple[Any, Any]) -> tuple[Any, None]:
        state, label = at
        place = (time, sequence, jnp.broadcast_to(label, time.shape))
        before = collected[place]
        greatest = _finite(jnp.maximum(before, state))
        both = _log(_exp(before - greatest) + _exp(state - greatest)) + greatest
        return collected.at[place].set(jnp.where(jnp.isneginf(before), state, both)), None

    nothing = jnp.full_like(log_probs, -jnp.inf)
    each = (jnp.moveaxis(states, 2, 0), jnp.swapaxes(labels, 0, 1))
    collected, _ = lax.scan(step, nothing, each, reverse=True)
    return collected


def _sum_of_three(values: Any, may_skip: Any, direction: int) -> Any:
    """Log of the sum over a state, its neighbour, and the one beyond it where that is allowed."""
    one, two = (_shifted(values, direction * distance) for distance in (1, 2))
    two = jnp.where(may_skip, two, -jnp.inf).astype(values.dtype)
    greatest = _finite(jnp.maximum(jnp.maximum(values, one), two))
    total = _exp(values - greatest) + _exp(one - greatest) + _exp(two - greatest)
    return _log(total) + greatest


def _finite(greatest: Any) -> Any:
    """0 in the place of the logarithm of 0, which cannot be subtracted from itself."""
    return jnp.where(jnp.isneginf(greatest), 0, greatest)


def _exp(array: Any) -> Any:
    return jnp.exp(array.astype(jnp.float64)).astype(array.dtype)


def _log(array: Any) -> Any:
    return jnp.log(array.astype(jnp.float64)).astype(array.dtype)


def _shifted(values: Any, distance: int) -> Any:
    padding = (max(distance, 0), max(-distance, 0))
    padded = jnp.pad(values, [(0, 0), padding], constant_values=-jnp.inf)
    start = max(-distance, 0)
    return padded[:, start : start + values.shape[1]]


def _position(states: int) -> Any:
    return jnp.arange(states)[None]
