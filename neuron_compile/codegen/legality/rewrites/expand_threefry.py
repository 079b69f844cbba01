"""Random bits by Threefry as integer arithmetic (NCC_EVRF006).

The compiler takes the default algorithm only, which draws other numbers. Threefry-2x32 with 20
rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011) is a few dozen 32-bit
operations, so the same bits come out on any target. The state is (key, counter); how the counter
is spread over the result, and how far it moves on, is XLA's own layout, which this reproduces.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from jaxlib.mlir.dialects import stablehlo

from neuron_compile.codegen.legality.program_module import building_at, replace
from neuron_compile.codegen.legality.tensor_ops import (
    bitcast,
    broadcast,
    convert,
    element_of,
    integer,
    iota,
    reshape,
    shape_of,
    slice_along,
    splat,
)

if TYPE_CHECKING:
    from neuron_compile.codegen.legality.device import Device

_ROTATIONS: Final = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY: Final = 0x1BD11BDA


def expand_threefry(operation: Any, device: Device) -> bool:
    """Replace a `stablehlo.rng_bit_generator` that asks for THREE_FRY and integer results."""
    algorithm = str(operation.attributes["rng_algorithm"])
    state, bits = operation.operands[0], operation.results[1]
    element, shape = element_of(bits), shape_of(bits)
    is_known_state = shape_of(state) == (2,) and element_of(state).width == 64
    if "THREE_FRY" not in algorithm or not device.has_int64 or not is_known_state:
        return False
    with building_at(operation):
        key, counter = (reshape(slice_along(state, 0, i, i + 1), ()) for i in (0, 1))
        # Each block of two words gives one 64-bit number or two of at most 32 bits.
        blocks, axis = (shape, -1) if element.width == 64 else _halved(shape)
        first, second = _threefry(_words(_counters(counter, blocks)), _words(key), blocks)
        if element.width == 64:
            wide = integer(64, is_unsigned=True)
            high = stablehlo.shift_left(convert(second, wide), splat(32, blocks, wide))
            drawn = stablehlo.or_(convert(first, wide), high)
        else:
            drawn = _interleave(first, second, shape, axis)
        mask = splat((1 << element.width) - 1, shape, element_of(drawn))
        drawn = convert(stablehlo.and_(drawn, mask), integer(element.width, is_unsigned=True))
        used = splat(math.prod(blocks), (), element_of(counter))
        moved = stablehlo.add(counter, used)
        new_state = stablehlo.concatenate([reshape(v, (1,)) for v in (key, moved)], 0)
        values = [new_state, drawn if element.is_unsigned else bitcast(drawn, element)]
    replace(operation, values)
    return True


def _halved(shape: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """The shape with half as many (rounded up) along its first even, else longest, dimension."""
    if not shape:
        return (1,), 0
    axis = next((i for i, size in enumerate(shape) if size % 2 == 0), None)
    if axis is None:
        axis = shape.index(max(shape))
    return (*shape[:axis], -(-shape[axis] // 2), *shape[axis + 1 :]), axis


def _interleave(first: Any, second: Any, shape: tuple[int, ...], axis: int) -> Any:
    if not shape:
        return reshape(first, ())
    half = shape_of(first)
    single = (*half[: axis + 1], 1, *half[axis + 1 :])
    pair = stablehlo.concatenate([reshape(first, single), reshape(second, single)], axis + 1)
    even = (*half[:axis], 2 * half[axis], *half[axis + 1 :])
    return slice_along(reshape(pair, even), axis, 0, shape[axis])


def _counters(counter: Any, shape: tuple[int, ...]) -> Any:
    """The counter plus the row-major position of each block."""
    element = element_of(counter)
    total, step = broadcast(counter, shape), 1
    for axis in reversed(range(len(shape))):
        places = stablehlo.multiply(iota(shape, axis, element), splat(step, shape, element))
        total = stablehlo.add(total, places)
        step *= shape[axis]
    return total


def _words(number: Any) -> tuple[Any, Any]:
    """The low and the high half of 64-bit numbers."""
    word, shape, wide = integer(32, is_unsigned=True), shape_of(number), element_of(number)
    low = stablehlo.and_(number, splat(0xFFFFFFFF, shape, wide))
    high = stablehlo.shift_right_logical(number, splat(32, shape, wide))
    return convert(low, word), convert(high, word)


def _threefry(
    block: tuple[Any, Any], key: tuple[Any, Any], shape: tuple[int, ...]
) -> tuple[Any, Any]:
    word = integer(32, is_unsigned=True)
    parity = stablehlo.xor(stablehlo.xor(splat(_PARITY, (), word), key[0]), key[1])
    schedule = [broadcast(part, shape) for part in (*key, parity)]
    left, right = (stablehlo.add(word, part) for word, part in zip(block, schedule, strict=False))
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            left = stablehlo.add(left, right)
            rotated = stablehlo.or_(
                stablehlo.shift_left(right, splat(distance, shape, word)),
                stablehlo.shift_right_logical(right, splat(32 - distance, shape, word)),
            )
            right = stablehlo.xor(left, rotated)
        left = stablehlo.add(left, schedule[(group + 1) % 3])
        right = stablehlo.add(right, schedule[(group + 2) % 3])
        right = stablehlo.add(right, splat(group + 1, shape, word))
    return left, right
