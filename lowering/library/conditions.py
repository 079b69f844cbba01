"""When the library is preferred over Torch-MLIR, which is right in an operator's other calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neuron_compile.lowering.library.operation import Request

Condition = Callable[[Request], bool]


def has_scalar_operand(request: Request) -> bool:
    """A first operand of rank 0, for which Torch-MLIR's reductions fail or crash."""
    return bool(request.operands) and request.operands[0].shape == ()


def is_empty(request: Request) -> bool:
    """An operand or result without elements."""
    tensors = [*request.operands, *(spec for spec in request.results if spec is not None)]
    return any(0 in spec.shape for spec in tensors)


def is_low_precision(request: Request) -> bool:
    """Values of 16 bits or fewer, which Torch-MLIR would accumulate without widening."""
    return any(spec.dtype in ("bfloat16", "float16") for spec in request.operands)


def is_integral(request: Request) -> bool:
    """A first operand of integers or bool."""
    return bool(request.operands) and not _is_inexact(request.operands[0].dtype)


def is_unsigned(request: Request) -> bool:
    """An operand of unsigned integers, which Torch-MLIR compares as signed."""
    return any(spec.dtype.startswith("uint") for spec in request.operands)


def is_unsigned_or_bool(request: Request) -> bool:
    """An operand is unsigned or bool, which Torch-MLIR compares as signed numbers."""
    return is_unsigned(request) or any(spec.dtype == "bool" for spec in request.operands)


def makes_unsigned(request: Request) -> bool:
    """A result of unsigned integers, of which Torch-MLIR has no constants."""
    return any(spec is not None and spec.dtype.startswith("uint") for spec in request.results)


def is_transposed_convolution(request: Request) -> bool:
    """A transposed convolution."""
    return bool(request.arguments.get(6, "transposed", False))


def never(request: Request) -> bool:
    """Torch-MLIR is right for real numbers; complex ones come to the library in any case."""
    return False


def argument_is(position: int, name: str, accepts: Callable[[Any], bool]) -> Condition:
    """The argument at `position` or called `name`, None if absent, is one that `accepts` takes."""
    return lambda request: accepts(request.arguments.get(position, name))


def any_of(*conditions: Condition) -> Condition:
    """At least one of the conditions."""
    return lambda request: any(condition(request) for condition in conditions)


def _is_inexact(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat", "complex"))
