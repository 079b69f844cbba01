"""Sampling an image or a volume at given positions, and the gradients of it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from neuron_compile.lowering.library.precision import widen
from neuron_compile.lowering.library.refusal import Refused

_BILINEAR, _NEAREST, _CUBIC = 0, 1, 2
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2


def grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """`aten.grid_sampler_2d` and `aten.grid_sampler_3d`."""
    return _sampled(widen(input), widen(grid), interpolation_mode, padding_mode, align_corners)


def grid_sampler_backward(
    grad_output: Any,
    input: Any,
    grid: Any,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Any | None, Any]:
    """`aten.grid_sampler_2d_backward` and `aten.grid_sampler_3d_backward`."""
    image, places = widen(input), widen(grid)
    options = (interpolation_mode, padding_mode, align_corners)
    _, pull = jax.vjp(lambda i, g: _sampled(i, g, *options), image, places)
    grad_image, grad_grid = pull(widen(grad_output))
    return (grad_image if output_mask[0] else None), grad_grid


def _sampled(image: Any, grid: Any, mode: int, padding: int, align_corners: bool) -> Any:
    sizes = image.shape[2:]
    # The last component of the grid is for the first spatial dimension.
    source = [
        _unnormalized(grid[..., len(sizes) - 1 - axis], size, align_corners)
        for axis, size in enumerate(sizes)
    ]
    if mode == _CUBIC:
        if len(sizes) != 2:
            raise Refused("bicubic sampling is defined for images only.")
        return _cubic(image, source, sizes, padding, align_corners)
    source = [
        _padded(place, size, padding, align_corners)
        for place, size in zip(source, sizes, strict=True)
    ]
    if mode == _NEAREST:
        return _fetch(image, [_integer(jnp.round(place)) for place in source])
    lower = [lax.stop_gradient(jnp.floor(place)) for place in source]
    total: Any = 0.0
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        weight: Any = 1.0
        for place, low, upper in zip(source, lower, corner, strict=True):
            weight = weight * ((place - low) if upper else (low + 1 - place))
        corners = [_integer(low) + upper for low, upper in zip(lower, corner, strict=True)]
        total = total + _fetch(image, corners) * weight[:, None]
    return total


def _cubic(
    image: Any, source: list[Any], sizes: Sequence[int], padding: int, align_corners: bool
) -> Any:
    lower = [lax.stop_gradient(jnp.floor(place)) for place in source]
    weights = [_cubic_weights(s - low) for s, low in zip(source, lower, strict=True)]
    total: Any = 0.0
    for offset in itertools.product(range(4), repeat=2):
        corner = [
            _integer(lax.stop_gradient(_padded(low + step - 1, size, padding, align_corners)))
            for low, step, size in zip(lower, offset, sizes, strict=True)
        ]
        weight = weights[0][offset[0]] * weights[1][offset[1]]
        total = total + _fetch(image, corner) * weight[:, None]
    return total


def _cubic_weights(share: Any) -> list[Any]:
    a = -0.75

    def near(x: Any) -> Any:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Any) -> Any:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(share + 1), near(share), near(1 - share), far(2 - share)]


def _unnormalized(place: Any, size: int, align_corners: bool) -> Any:
    if align_corners:
        return (place + 1) / 2 * (size - 1)
    return ((place + 1) * size - 1) / 2


def _padded(place: Any, size: int, padding: int, align_corners: bool) -> Any:
    if padding == _ZEROS:
        return place
    if padding == _REFLECTION:
        edges = (0, 2 * (size - 1)) if align_corners else (-1, 2 * size - 1)
        place = _reflected(place, *edges)
    # Unlike `jnp.clip`, this has slope 0 on the border itself, as in PyTorch.
    low, high = (jnp.asarray(bound, place.dtype) for bound in (0, size - 1))
    return lax.clamp(low, place, high)


def _reflected(place: Any, twice_low: int, twice_high: int) -> Any:
    """`place` mirrored into the interval, with the derivative of the branch that PyTorch takes."""
    if twice_low == twice_high:
        return jnp.zeros_like(place)
    low, span = twice_low / 2, (twice_high - twice_low) / 2
    offset = lax.stop_gradient(place) - low
    distance = jnp.abs(offset)
    extra = lax.rem(distance, jnp.asarray(span, distance.dtype))
    is_even = jnp.floor(distance / span) % 2 == 0
    value = jnp.where(is_even, extra + low, span - extra + low)
    slope = jnp.where(offset < 0, -1.0, 1.0) * jnp.where(is_even, 1.0, -1.0)
    return value + slope.astype(place.dtype) * (place - lax.stop_gradient(place))


def _integer(place: Any) -> Any:
    # Far outside, where a 64-bit integer would not hold it, any value outside the image will do.
    bound = jnp.asarray(2**30, place.dtype)
    limited = jnp.where(jnp.abs(place) < bound, place, -bound)
    return lax.stop_gradient(limited).astype(jnp.int64)


def _fetch(image: Any, places: list[Any]) -> Any:
    """`image[n, :, places...]`, 0 outside: `[N, C, ...]`."""
    sizes = image.shape[2:]
    flat: Any = 0
    inside: Any = True
    for place, size in zip(places, sizes, strict=True):
        flat = flat * size + jnp.clip(place, 0, size - 1)
        inside = inside & (place >= 0) & (place < size)
    pixels = image.reshape(*image.shape[:2], -1)
    taken = jax.vmap(lambda plane, index: plane[:, index])(pixels, flat)
    return jnp.where(inside[:, None], taken, 0)
