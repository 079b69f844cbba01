"""Golden cases: a function, example inputs, a stage, and the lines that matter of what it becomes.

The lines stand as FileCheck comments above the function; see the `filecheck` package.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from fx_graphs import capture
from neuron_compile.lowering.decompose.table import decomposition_table
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.lowering.stablehlo_text import stablehlo_text
from neuron_compile.lowering.to_stablehlo import to_stablehlo

Stage = Literal["fx", "torch", "stablehlo"]


@dataclass(frozen=True)
class GoldenCase:
    """`text()` is the intermediate form of `function` after `stage`; `checks` the comments."""

    function: Callable[..., Any]
    inputs: tuple[Any, ...]
    stage: Stage
    checks: str

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    def text(self) -> str:
        """Lower the function as far as the stage."""
        lowered = from_fx(
            capture(self.function, *self.inputs, decompositions=decomposition_table())
        )
        if self.stage == "fx":
            return lowered.legal_module.print_readable(print_output=False)
        if self.stage == "torch":
            return lowered.program.module
        return stablehlo_text(to_stablehlo(lowered.program).stablehlo)


def golden(*inputs: Any, stage: Stage = "stablehlo") -> Callable[[Callable[..., Any]], GoldenCase]:
    """Make a case of the function below; the checks are the comments above."""

    def decorate(function: Callable[..., Any]) -> GoldenCase:
        checks = inspect.getcomments(function)
        assert checks is not None
        assert "CHECK" in checks
        return GoldenCase(function, inputs, stage, checks)

    return decorate
