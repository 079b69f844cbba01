"""Where an operator's index operands stand, what they must lie in, and what eager says if not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.fx import Node

from neuron_compile.lowering.legalize.node_values import value

_aten = torch.ops.aten


@dataclass(frozen=True, slots=True)
class IndexBound:
    """Every element of `index` must lie in [`low`, `size`)."""

    index: Node
    low: int
    size: int
    exception: str
    message: str


def index_bounds(node: Node) -> Iterator[IndexBound]:
    """What eager would require of the index tensors of a call; masks require nothing."""
    rule = _RULES.get(node.target)
    if rule is not None:
        yield from rule(node)


def _argument(node: Node, position: int, name: str, default: Any = None) -> Any:
    if position < len(node.args):
        return node.args[position]
    return node.kwargs.get(name, default)


def _size(node: Node, dim: int) -> int:
    shape = value(node).shape
    return int(shape[dim]) if shape else 1


def _advanced(node: Node) -> Iterator[IndexBound]:
    """Indexing by tensors: negative numbers count from the end."""
    source = node.args[0]
    dim = 0
    for index in node.args[1]:  # type: ignore[union-attr]
        if isinstance(index, Node) and value(index).dtype in (torch.bool, torch.uint8):
            dim += value(index).dim()
            continue
        if isinstance(index, Node):
            size = _size(source, dim)  # type: ignore[arg-type]
            text = f"index is out of bounds for dimension {dim} with size {size}"
            yield IndexBound(index, -size, size, "IndexError", text)
        dim += 1


def _along(exception: str, *, wraps: bool = False, text: str = "") -> Callable[..., Any]:
    """`(self, dim, index, ...)`."""

    def rule(node: Node) -> Iterator[IndexBound]:
        dim = _argument(node, 1, "dim")
        size = _size(node.args[0], dim)  # type: ignore[arg-type]
        message = text or f"index is out of bounds for dimension {dim} with size {size}"
        index = _argument(node, 2, "index")
        yield IndexBound(index, -size if wraps else 0, size, exception, message)

    return rule


def _flat(node: Node) -> Iterator[IndexBound]:
    """By position in the flattened tensor, from either end."""
    count = math.prod(value(node.args[0]).shape)
    text = f"out of range: tried to access an index on a tensor of {count} elements."
    yield IndexBound(_argument(node, 1, "index"), -count, count, "IndexError", text)


def _embedding(node: Node) -> Iterator[IndexBound]:
    rows = _size(node.args[0], 0)  # type: ignore[arg-type]
    yield IndexBound(_argument(node, 1, "indices"), 0, rows, "IndexError", _IN_SELF)


def _embedding_bag(node: Node) -> Iterator[IndexBound]:
    rows = _size(node.args[0], 0)  # type: ignore[arg-type]
    text = f"an index of input takes a value which is not in the valid range [0, {rows})"
    yield IndexBound(_argument(node, 1, "indices"), 0, rows, "RuntimeError", text)


def _unpooled(node: Node) -> Iterator[IndexBound]:
    sizes = [int(size) for size in _argument(node, 2, "output_size")]
    volume = "x".join(map(str, sizes))
    text = f"Found an invalid max index (output volumes are of size {volume})"
    index = _argument(node, 1, "indices")
    yield IndexBound(index, 0, math.prod(sizes), "RuntimeError", text)


def _gather(node: Node) -> Iterator[IndexBound]:
    """A class label that selects from log-probabilities is a target, as eager calls it."""
    for bound in _along("RuntimeError")(node):
        if str(node.meta.get("original_aten", "")).startswith("aten.nll_loss"):
            yield IndexBound(bound.index, 0, bound.size, "IndexError", "Target is out of bounds.")
        else:
            yield bound


_IN_SELF: Final = "index out of range in self"
_RULES: Final[dict[Any, Callable[[Node], Iterator[IndexBound]]]] = {
    _aten.index.Tensor: _advanced,
    _aten.index_put.default: _advanced,
    _aten.index_select.default: _along("IndexError", text=_IN_SELF),
    _aten.index_fill.int_Scalar: _along("IndexError", wraps=True),
    _aten.index_fill.int_Tensor: _along("IndexError", wraps=True),
    _aten.index_copy.default: _along("IndexError"),
    _aten.index_add.default: _along("RuntimeError"),
    _aten.index_reduce.default: _along("IndexError", text=_IN_SELF),
    _aten.gather.default: _gather,
    _aten.scatter.src: _along("RuntimeError"),
    _aten.scatter.value: _along("RuntimeError"),
    _aten.scatter.reduce: _along("RuntimeError"),
    _aten.scatter.value_reduce: _along("RuntimeError"),
    _aten.scatter_add.default: _along("RuntimeError"),
    _aten.scatter_reduce.two: _along("RuntimeError"),
    _aten.take.default: _flat,
    _aten.put.default: _flat,
    _aten.embedding.default: _embedding,
    _aten._embedding_bag.default: _embedding_bag,
    _aten._embedding_bag_forward_only.default: _embedding_bag,
    _aten.max_unpool2d.default: _unpooled,
    _aten.max_unpool3d.default: _unpooled,
}
