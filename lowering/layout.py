"""How a strided tensor is handed to a program that knows only dense row-major arrays.

A tensor that is a permutation of a dense one crosses the boundary without a copy: the program takes
or gives its *physical* array, the dimensions in storage order, and permutes it inside, where that
costs nothing. A result may also have broadcast (stride 0) dimensions, which the physical array
holds once.
"""

from __future__ import annotations

from dataclasses import dataclass

from neuron_compile.lowering.program import TensorSpec


@dataclass(frozen=True, slots=True)
class PhysicalLayout:
    """`order[i]` is the logical dimension at physical position i; `shape` the physical shape;
    `strides` the strides of that view of the tensor's memory, which is dense and row-major."""

    order: tuple[int, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def is_identity(self) -> bool:
        """Whether the physical array is the logical one."""
        return self.order == tuple(range(len(self.order)))


def dense_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements; a zero-sized dimension counts as one, as in PyTorch."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def input_layout(spec: TensorSpec) -> PhysicalLayout | None:
    """The layout by which an argument of type `spec` enters, or None for a contiguous copy.

    Broadcast arguments are copied: a later call may bring one of the same shape whose elements
    differ along that dimension.
    """
    if any(stride == 0 and size > 1 for size, stride in zip(spec.shape, spec.strides, strict=True)):
        return None
    return physical_layout(spec)


def physical_layout(spec: TensorSpec) -> PhysicalLayout | None:
    """The layout by which `spec` is a dense array, or None if it has gaps or overlaps.

    None means that the tensor crosses as a contiguous copy.
    """
    shape, strides = spec.shape, spec.strides
    if strides == dense_strides(shape):
        return PhysicalLayout(tuple(range(len(shape))), shape, strides)
    if spec.element_count == 0:
        return None
    # Size-1 dimensions fit anywhere; keeping them in logical order among equals is stable.
    order = tuple(sorted(range(len(shape)), key=lambda dim: (-strides[dim], dim)))
    physical = tuple(1 if strides[dim] == 0 else shape[dim] for dim in order)
    expected = dense_strides(physical)
    for size, dim, stride in zip(physical, order, expected, strict=True):
        if size != 1 and strides[dim] != stride:
            return None
    return PhysicalLayout(order, physical, expected)
