"""Each call of a graph, checked by itself: eager PyTorch gets the operands that compiled code had.

An error that one call makes is not blamed on those that follow, as it would be if two whole runs
were compared.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from neuron_compile.errors import SourceLine
from neuron_compile.lowering.source_lines import source_line

# Of the largest entry: what summing in another order may make of it.
TOLERANCES: Final[Mapping[torch.dtype, float]] = {
    torch.float64: 1e-4,  # computed in float32
    torch.float32: 1e-4,
    torch.complex64: 1e-4,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
}

# As many times eager's own distance from float64 may be due to another order of summing.
_ROUNDING: Final = 8


@dataclass(frozen=True, slots=True)
class Departure:
    """A call whose compiled result is not eager's. `error` is relative to the largest entry."""

    operator: str
    node: str
    error: float
    source: SourceLine | None


def departures(
    module: GraphModule, arguments: Sequence[Any], actual: Mapping[Node, Tensor], tolerance: float
) -> Iterator[Departure]:
    """The calls of `module` whose result in `actual` is not what eager gives for their operands.

    `tolerance` scales the tolerances, which are by dtype. Where terms cancel, a result may be
    farther from eager's if eager's is about as far from float64's. Random calls and those that
    eager does not have are passed over. Whole numbers must be equal, and NaN must be where eager's
    is.
    """
    operands: dict[Node, Any] = dict(actual)
    expected: dict[Node, Any] = {}
    given = iter(arguments)
    for node in module.graph.nodes:
        if node.op == "placeholder":
            operands[node] = next(given)
        elif node.op == "get_attr":
            operands[node] = operator.attrgetter(str(node.target))(module)
        elif node.op == "call_function" and _can_be_checked(node, operands):
            result = _in_eager(node, operands, expected)
            expected[node] = result
            if node not in actual:  # several results; each is checked where it is taken out
                operands[node] = result
                continue
            error = distance(actual[node], result)
            if error > tolerance * TOLERANCES.get(result.dtype, 0.0) and not _is_rounding(
                node, operands, actual[node], result
            ):
                yield Departure(str(node.target), node.name, error, source_line(node))


def distance(actual: Tensor, expected: Tensor) -> float:
    """The largest difference, over the largest entry; infinite where shapes, dtypes or the places
    of NaN and infinity differ. For whole numbers and truth values: 0 or infinite."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return torch.inf
    if not expected.dtype.is_floating_point and not expected.dtype.is_complex:
        return 0.0 if torch.equal(actual, expected) else torch.inf
    wide = torch.complex128 if expected.dtype.is_complex else torch.float64
    here, there = actual.to(wide), expected.to(wide)
    is_finite = there.isfinite()
    if not torch.allclose(here[~is_finite], there[~is_finite], rtol=0, atol=0, equal_nan=True):
        return torch.inf
    if not is_finite.any():
        return 0.0
    difference = (here - there)[is_finite].abs().max().item()
    largest = there[is_finite].abs().max().item()
    return 0.0 if difference == 0 else difference / max(largest, torch.finfo(torch.float32).tiny)


def _is_rounding(
    node: Node, operands: Mapping[Node, Any], actual: Tensor, expected: Tensor
) -> bool:
    """Whether the result is about as near to that of float64 as eager's is."""
    if not expected.dtype.is_floating_point or node.target is operator.getitem:
        return False
    try:
        exact = _in_eager(node, {n: _widened(operands[n]) for n in node.all_input_nodes}, {})
    except RuntimeError:  # an operator that has no float64, or takes no mixture of dtypes
        return False
    if exact.dtype != torch.float64:
        return False
    own, eagers = ((r.to(torch.float64) - exact).abs().max().item() for r in (actual, expected))
    return bool(own <= _ROUNDING * eagers)


def _widened(operand: Any) -> Any:
    is_floating = isinstance(operand, Tensor) and operand.is_floating_point()
    return operand.to(torch.float64) if is_floating else operand


def _can_be_checked(node: Node, operands: Mapping[Node, Any]) -> bool:
    if any(name not in operands for name in node.all_input_nodes):
        return False
    tags = getattr(node.target, "tags", ())
    return torch.Tag.nondeterministic_seeded not in tags and _exists_in_eager(node.target)


def _exists_in_eager(target: Any) -> bool:
    if not isinstance(target, torch._ops.OpOverload):
        return callable(target)
    return bool(torch._C._dispatch_has_computed_kernel_for_dispatch_key(target.name(), "CPU"))


def _in_eager(node: Node, operands: Mapping[Node, Any], expected: Mapping[Node, Any]) -> Any:
    if node.target is operator.getitem:
        several, index = node.args
        assert isinstance(several, Node)
        return expected[several][index]
    args, kwargs = map_arg((node.args, dict(node.kwargs)), operands.__getitem__)
    assert callable(node.target)
    return node.target(*args, **kwargs)
