"""Which nodes Torch-MLIR failed on, by its diagnostics and the module it left behind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

# Locations are the numbers of FX nodes: see `import_fx`.
_NODE_NUMBER: Final = re.compile(r'loc\("n(\d+)"|"n(\d+)"')
_OPERATION: Final = re.compile(r"operation '([^']+)'|name = \"([^\"]+)\"")
# Left over by other operations' failures, never the cause of one.
_INNOCENT: Final = ("torch.constant.", "torch.prim.", "torch_c.", "torch.vtensor.literal")


@dataclass(frozen=True, slots=True)
class FailedNode:
    """A node that a stage could not convert: its number in the program, its operation in the
    stage's own dialect, and what was said."""

    number: int
    operation: str
    reason: str


class ConversionFailure(Exception):  # noqa: N818 - not an error of the user's until it is explained
    """A program was refused. `nodes` is empty if no node could be blamed; `detail` is everything
    that was said."""

    def __init__(self, nodes: tuple[FailedNode, ...], detail: str) -> None:
        self.nodes = nodes
        self.detail = detail
        super().__init__(nodes, detail)

    def __str__(self) -> str:
        return self.detail


def node_number(location: Any) -> int | None:
    """The innermost node number in an MLIR location, or None."""
    found = _NODE_NUMBER.search(str(location))
    return int(found[1] or found[2]) if found else None


def unknown_operators(module: Any) -> tuple[FailedNode, ...]:
    """Operators that the torch dialect has no operation for: all of them, before any pass runs."""
    failed = []
    for operation in _walk(module):
        if operation.name == "torch.operator":
            name = str(operation.attributes["name"]).strip('"').removeprefix("torch.")
            failed += _blame(operation, name, "Torch-MLIR does not know it.")
    return tuple(failed)


def explain(error: Any, module: Any) -> ConversionFailure:
    """The failure behind an `MLIRError` of a pass that ran on `module`."""
    failed: list[FailedNode] = []
    said: list[str] = []
    for diagnostic in getattr(error, "error_diagnostics", ()):
        said.append(diagnostic.message)
        number = node_number(diagnostic.location)
        name = _OPERATION.search(diagnostic.message)
        operation = (name[1] or name[2]) if name else ""
        if number is not None and not operation.startswith(_INNOCENT):
            failed.append(FailedNode(number, operation, _first_line(diagnostic.message)))
    if not failed:
        # The last stage stops at a constant that an unconverted operation still needs.
        for operation in _walk(module):
            if operation.name.startswith("torch.") and not operation.name.startswith(_INNOCENT):
                failed += _blame(operation, operation.name, "Torch-MLIR could not convert it.")
    unique = {node.number: node for node in reversed(failed)}
    return ConversionFailure(
        tuple(unique[number] for number in sorted(unique)), "\n".join(said) or str(error)
    )


def _blame(operation: Any, name: str, reason: str) -> list[FailedNode]:
    number = node_number(operation.location)
    return [] if number is None else [FailedNode(number, name, reason)]


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason was given"


def _walk(module: Any) -> list[Any]:
    from torch_mlir import ir

    found: list[Any] = []

    def visit(operation: Any) -> Any:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found
