"""One row of the table: which body computes an operator, and when it is preferred."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from neuron_compile.lowering.library.arguments import Arguments
from neuron_compile.lowering.program import TensorSpec


@dataclass(frozen=True, slots=True)
class Request:
    """A call that may become a library call: its arguments, and its tensors' types."""

    operator: str
    arguments: Arguments
    operands: Sequence[TensorSpec]
    results: Sequence[TensorSpec | None]


@dataclass(frozen=True, slots=True)
class LibraryOp:
    """`body` is `module:function` below this package; the function is plain JAX.

    `takes` tells whether the library is preferred over Torch-MLIR for a call; None is always.
    With `needs_strides` the body also gets `strides`, those of each operand, because what ATen
    computes depends on them. With `needs_results` it gets `results`, the types of the declared
    results, because the arguments alone do not tell their shapes. `is_marked` calls keep their
    operator and arguments in the program, for a code generator that has a better way.
    """

    body: str
    takes: Callable[[Request], bool] | None = None
    needs_strides: bool = False
    needs_results: bool = False
    is_marked: bool = False

    def resolve(self) -> Callable[..., Any]:
        """The body. Imports its module, and with it JAX."""
        module, _, function = self.body.partition(":")
        found: Callable[..., Any] = getattr(
            importlib.import_module(f"neuron_compile.lowering.library.{module}"), function
        )
        return found
