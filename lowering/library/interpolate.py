"""Up- and down-sampling in every mode, with and without antialiasing, and the gradients.

Positions and weights are computed as PyTorch's CPU kernels do, in float32 unless the values are
float64, so that every rounding falls on the same element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from neuron_compile.lowering.library.precision import widen
from neuron_compile.lowering.library.refusal import Refused
from neuron_compile.lowering.library.resampling import Taps

Rule = Callable[[int, int, bool, float | None, Any], Taps]


def nearest(self: Any, output_size: Sequence[int], *scales: float | None, **named: Any) -> Any:
    """`aten.upsample_nearest{1,2,3}d`."""
    return _resampled(_nearest, self, output_size, False, _scales(scales, named))


def nearest_exact(
    self: Any, output_size: Sequence[int], *scales: float | None, **named: Any
) -> Any:
    """`aten._upsample_nearest_exact{1,2,3}d`."""
    return _resampled(_nearest_exact, self, output_size, False, _scales(scales, named))


def linear(
    self: Any,
    output_size: Sequence[int],
    align_corners: bool,
    *scales: float | None,
    **named: Any,
) -> Any:
    """`aten.upsample_{linear1d,bilinear2d,trilinear3d}`."""
    return _resampled(_linear, self, output_size, align_corners, _scales(scales, named))


def cubic(
    self: Any,
    output_size: Sequence[int],
    align_corners: bool,
    *scales: float | None,
    **named: Any,
) -> Any:
    """`aten.upsample_bicubic2d`."""
    return _resampled(_cubic, self, output_size, align_corners, _scales(scales, named))


def smooth_linear(
    self: Any,
    output_size: Sequence[int],
    align_corners: bool,
    *scales: float | None,
    **named: Any,
) -> Any:
    """`aten._upsample_bilinear2d_aa`."""
    return _resampled(_smooth_linear, self, output_size, align_corners, _scales(scales, named))


def smooth_cubic(
    self: Any,
    output_size: Sequence[int],
    align_corners: bool,
    *scales: float | None,
    **named: Any,
) -> Any:
    """`aten._upsample_bicubic2d_aa`."""
    return _resampled(_smooth_cubic, self, output_size, align_corners, _scales(scales, named))


def smooth_lanczos(
    self: Any,
    output_size: Sequence[int],
    align_corners: bool,
    *scales: float | None,
    **named: Any,
) -> Any:
    """`aten._upsample_lanczos2d_aa`."""
    return _resampled(_smooth_lanczos, self, output_size, align_corners, _scales(scales, named))


def nearest_backward(
    grad_output: Any, output_size: Any, input_size: Sequence[int], *scales: Any, **named: Any
) -> Any:
    """`aten.upsample_nearest{1,2,3}d_backward`."""
    return _gradient(_nearest, grad_output, input_size, False, _scales(scales, named))


def nearest_exact_backward(
    grad_output: Any, output_size: Any, input_size: Sequence[int], *scales: Any, **named: Any
) -> Any:
    """`aten._upsample_nearest_exact{1,2,3}d_backward`."""
    return _gradient(_nearest_exact, grad_output, input_size, False, _scales(scales, named))


def linear_backward(
    grad_output: Any,
    output_size: Any,
    input_size: Sequence[int],
    align_corners: bool,
    *scales: Any,
    **named: Any,
) -> Any:
    """`aten.upsample_{linear1d,bilinear2d,trilinear3d}_backward`."""
    return _gradient(_linear, grad_output, input_size, align_corners, _scales(scales, named))


def cubic_backward(
    grad_output: Any,
    output_size: Any,
    input_size: Sequence[int],
    align_corners: bool,
    *scales: Any,
    **named: Any,
) -> Any:
    """`aten.upsample_bicubic2d_backward`."""
    return _gradient(_cubic, grad_output, input_size, align_corners, _scales(scales, named))


def smooth_linear_backward(
    grad_output: Any,
    output_size: Any,
    input_size: Sequence[int],
    align_corners: bool,
    *scales: Any,
    **named: Any,
) -> Any:
    """`aten._upsample_bilinear2d_aa_backward`."""
    return _gradient(_smooth_linear, grad_output, input_size, align_corners, _scales(scales, named))


def smooth_cubic_backward(
    grad_output: Any,
    output_size: Any,
    input_size: Sequence[int],
    align_corners: bool,
    *scales: Any,
    **named: Any,
) -> Any:
    """`aten._upsample_bicubic2d_aa_backward`."""
    return _gradient(_smooth_cubic, grad_output, input_size, align_corners, _scales(scales, named))


def smooth_lanczos_backward(
    grad_output: Any,
    output_size: Any,
    input_size: Sequence[int],
    align_corners: bool,
    *scales: Any,
    **named: Any,
) -> Any:
    """`aten._upsample_lanczos2d_aa_backward`."""
    return _gradient(
        _smooth_lanczos, grad_output, input_size, align_corners, _scales(scales, named)
    )


def _scales(given: Sequence[Any], named: dict[str, Any]) -> list[float | None]:
    names = ("scales", "scales_d", "scales_h", "scales_w")
    return [*given, *(named[name] for name in names if name in named)]


def _resampled(
    rule: Rule,
    array: Any,
    output: Sequence[int],
    align_corners: bool,
    scales: Sequence[float | None],
) -> Any:
    is_exact = rule in (_nearest, _nearest_exact)
    if not is_exact and jnp.issubdtype(array.dtype, jnp.integer):
        raise Refused("eager weighs integers in fixed point, in another way on every processor.")
    result = array if is_exact else widen(array)
    # From the last dimension to the first, as eager adds.
    for number in reversed(range(len(output))):
        axis, size = array.ndim - len(output) + number, output[number]
        scale = scales[number] if scales else None
        real = np.float64 if array.dtype == jnp.float64 else np.float32
        result = rule(array.shape[axis], size, align_corners, scale, real).apply(result, axis)
    return result


def _gradient(
    rule: Rule,
    grad: Any,
    input_size: Sequence[int],
    align_corners: bool,
    scales: Sequence[float | None],
) -> Any:
    result, rank = widen(grad), len(input_size) - 2
    real = np.float64 if grad.dtype == jnp.float64 else np.float32
    for number in range(rank):
        axis = 2 + number
        scale = scales[number] if scales else None
        taps = rule(input_size[axis], grad.shape[axis], align_corners, scale, real)
        result = taps.transposed().apply(result, axis)
    return result


def _ratio(size: int, count: int, align_corners: bool, scale: float | None, real: Any) -> Any:
    """Input elements for each output element."""
    if align_corners:
        return real(size - 1) / real(count - 1) if count > 1 else real(0)
    return real(1.0 / scale) if scale is not None and scale > 0 else real(size) / real(count)


def _centres(size: int, count: int, align_corners: bool, scale: float | None, real: Any) -> Any:
    ratio, number = _ratio(size, count, align_corners, scale, real), np.arange(count, dtype=real)
    return number * ratio if align_corners else (number + real(0.5)) * ratio - real(0.5)


def _nearest(size: int, count: int, _: bool, scale: float | None, real: Any) -> Taps:
    # These two sizes are exact, whatever the scale says.
    if count in (size, 2 * size):
        place = np.arange(count) * size // count
        return Taps(size, place[:, None], np.ones((count, 1), real))
    ratio = _ratio(size, count, False, scale, real)
    place = np.minimum(np.floor(np.arange(count, dtype=real) * ratio).astype(int), size - 1)
    return Taps(size, place[:, None], np.ones((count, 1), real))


def _nearest_exact(size: int, count: int, _: bool, scale: float | None, real: Any) -> Taps:
    ratio = _ratio(size, count, False, scale, real)
    number = np.arange(count, dtype=real) + real(0.5)
    place = np.minimum(np.floor(number * ratio).astype(int), size - 1)
    return Taps(size, place[:, None], np.ones((count, 1), real))


def _linear(size: int, count: int, align_corners: bool, scale: float | None, real: Any) -> Taps:
    if size == count:
        return Taps(size, np.arange(size)[:, None], np.ones((count, 1), real))
    source = np.maximum(_centres(size, count, align_corners, scale, real), real(0))
    first = np.minimum(np.floor(source).astype(int), size - 1)
    share = np.clip(source - first.astype(real), real(0), real(1))
    second = np.minimum(first + 1, size - 1)
    return Taps(size, np.stack([first, second], 1), np.stack([real(1) - share, share], 1))


def _cubic(size: int, count: int, align_corners: bool, scale: float | None, real: Any) -> Taps:
    source = _centres(size, count, align_corners, scale, real)
    first = np.floor(source).astype(int)
    share = np.clip(source - first.astype(real), real(0), real(1))
    offsets = np.arange(-1, 3)
    distance = np.abs(share[:, None] - offsets.astype(real))
    place = np.clip(first[:, None] + offsets, 0, size - 1)
    return Taps(size, place, _keys_kernel(distance, real(-0.75)))


def _smooth_linear(
    size: int, count: int, align_corners: bool, scale: float | None, real: Any
) -> Taps:
    ratio = _ratio(size, count, align_corners, scale, real)
    return _smooth(size, count, ratio, 2, lambda x: np.maximum(real(1) - np.abs(x), real(0)))


def _smooth_cubic(
    size: int, count: int, align_corners: bool, scale: float | None, real: Any
) -> Taps:
    ratio = _ratio(size, count, align_corners, scale, real)
    return _smooth(size, count, ratio, 4, lambda x: _keys_kernel(np.abs(x), real(-0.5)))


def _smooth_lanczos(
    size: int, count: int, align_corners: bool, scale: float | None, real: Any
) -> Taps:
    ratio = _ratio(size, count, align_corners, scale, real)

    def kernel(x: Any) -> Any:
        return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / real(3)), real(0))

    return _smooth(size, count, ratio, 6, kernel)


def _smooth(size: int, count: int, ratio: Any, width: int, kernel: Any) -> Taps:
    """A kernel stretched to the step between outputs, its weights made to sum to 1."""
    real = type(ratio)
    stretch = max(ratio, real(1))
    support = real(width) * real(0.5) * stretch
    centre = ratio * (np.arange(count, dtype=real) + real(0.5))
    first = np.maximum((centre - support + real(0.5)).astype(int), 0)
    last = np.minimum((centre + support + real(0.5)).astype(int), size)
    number = np.arange(int((last - first).max(initial=1)))
    place = first[:, None] + number
    inside = place < last[:, None]
    distance = (place.astype(real) - centre[:, None] + real(0.5)) / stretch
    weight = np.where(inside, kernel(distance), real(0))
    total = weight.sum(1, keepdims=True)
    weight = np.where(total != 0, weight / np.where(total != 0, total, 1), weight)
    return Taps(size, np.where(inside, place, -1), weight.astype(real))


def _keys_kernel(distance: Any, a: Any) -> Any:
    """Keys, "Cubic convolution interpolation for digital image processing" (1981)."""
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0)).astype(distance.dtype)
