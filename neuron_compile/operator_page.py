"""The page docs/operators.md, written from the results of the survey."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from neuron_compile.operator_support import DTYPES, OperatorSupport, dtypes_in_short

_HEAD: Final = """\
# Operators

Every entry of PyTorch's operator database (`torch.testing._internal.common_methods_invocations`),
compiled for the host target and compared with eager PyTorch, forward and backward. This page is
written by `neuron-compile ops --markdown`; `neuron-compile ops WORD...` searches it.

- **Route**: how the operator reaches StableHLO. *Torch-MLIR* converts it as it is; *decomposed*,
  it is rewritten into others while the graph is traced; *library*, it calls a StableHLO function
  traced from JAX.
- **Forward**, **backward**: the dtypes in which every sample is right by PyTorch's tolerance. A
  dtype followed by a word is one in which some are not: *refused* raises `UnsupportedOpError`,
  *depends on data* is left to eager by a graph break, *inexact* differs from eager by more than the
  tolerance.
"""


def as_markdown(operators: Sequence[OperatorSupport]) -> str:
    """The whole page."""
    parts = [_HEAD, _totals(operators)]
    for group, members in groupby(operators, key=lambda operator: operator.group):
        parts.append(f"## {group}\n")
        parts.append("| Operator | Route | Forward | Backward | Notes |")
        parts.append("| --- | --- | --- | --- | --- |")
        parts += [_row(operator) for operator in members]
        parts.append("")
    return "\n".join(parts)


def _totals(operators: Sequence[OperatorSupport]) -> str:
    lines = ["| dtype | operators | right | samples |", "| --- | ---: | ---: | ---: |"]
    for dtype in DTYPES:
        found = [op.dtypes[dtype] for op in operators if dtype in op.dtypes]
        if found:
            right = sum(outcome.is_right for outcome in found)
            samples = sum(outcome.samples for outcome in found)
            lines.append(f"| {dtype} | {len(found)} | {right} | {samples} |")
    return "\n".join([*lines, ""])


def _row(operator: OperatorSupport) -> str:
    cells = (
        f"`{operator.name}`",
        ", ".join(operator.routes),
        dtypes_in_short(operator, "forward"),
        dtypes_in_short(operator, "backward"),
        "; ".join(operator.notes),
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
