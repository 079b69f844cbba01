"""The errors of lowering, and the one formatter that gives every message its four parts.

What failed (counted), where (the user's file, line and its text), why, what to try. Each class
stands for one next step of the reader, so code catches classes, and people read messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the user's program: file, 1-based line number, stripped text (may be empty)."""

    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        """`model.py:41   y = F.grid_sample(x, grid)`."""
        return f"{self.file}:{self.line}   {self.text}".rstrip()


def compose_message(what: str, *, where: Sequence[str] = (), why: str = "", hint: str = "") -> str:
    """The four parts of every error, in one form; empty parts are left out."""
    lines = [what, *(f"  {place}" for place in where)]
    if why:
        lines.append(f"Why:  {why}")
    if hint:
        lines.append(f"Try:  {hint}")
    return "\n".join(lines)


class NeuronCompileError(Exception):
    """Every error that neuron-compile raises on purpose.

    `what`, `where`, `why` and `hint` are kept apart for tools; `str()` is the composed message.
    """

    def __init__(
        self, what: str, *, where: Sequence[str] = (), why: str = "", hint: str = ""
    ) -> None:
        self.what = what
        self.where = tuple(where)
        self.why = why
        self.hint = hint
        super().__init__(compose_message(what, where=self.where, why=why, hint=hint))


class LoweringError(NeuronCompileError):
    """Lowering failed for a reason that is not the user's: a defect of ours or of Torch-MLIR.

    The message names a folder with what is needed to reproduce it, if one could be written.
    """


class DynamicShapesError(NeuronCompileError):
    """The user asked for shapes that are only known at run time."""


@dataclass(frozen=True, slots=True)
class UnsupportedOp:
    """One operation that cannot be lowered.

    `operator` is its ATen name (`aten.grid_sampler_2d.default`), `arguments` a short text of the
    operand types, `node` the FX node's name, `source` the user's line, if known.
    """

    operator: str
    node: str
    arguments: str
    reason: str
    source: SourceLine | None = None
    hint: str = ""

    def __str__(self) -> str:
        """One aligned line of the report."""
        place = str(self.source) if self.source else "(no source line known)"
        return f"{self.operator}   {place}"


class UnsupportedOpError(NeuronCompileError):
    """Operations of the user's model have no lowering. `operations` lists all of the graph's.

    Under `fallback="eager"` they run in eager PyTorch, but for those that the user wants refused.
    """

    def __init__(
        self,
        operations: Sequence[UnsupportedOp],
        *,
        target: str = "host",
        may_run_in_eager: bool = True,
    ) -> None:
        self.operations = tuple(operations)
        self.target = target
        self.may_run_in_eager = may_run_in_eager
        count = len(self.operations)
        noun = "operation" if count == 1 else "operations"
        width = max((len(op.operator) for op in self.operations), default=0)
        where = [
            f"{op.operator:<{width}}   {op.source or '(no source line known)'}"
            for op in self.operations
        ]
        reasons = list(dict.fromkeys(op.reason for op in self.operations))
        hints = list(dict.fromkeys(op.hint for op in self.operations if op.hint))
        way_out = "keep them out of the compiled region with torch.compiler.disable"
        fallback = ', or pass options={"fallback": "eager"}' if may_run_in_eager else ""
        hints.append(f"{way_out}{fallback}.")
        super().__init__(
            f"{count} {noun} cannot be compiled for neuron (target {target})",
            where=where,
            why="\n      ".join(reasons),
            hint="\n      ".join(hints),
        )
