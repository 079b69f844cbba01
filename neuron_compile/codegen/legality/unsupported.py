"""What a device refuses, as operations of the graph that can be run elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from neuron_compile.errors import SourceLine, UnsupportedOp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_compile.codegen.legality.refusal import IllegalProgramError


class Origin(Protocol):
    """Where a numbered node comes from: a `NodeOrigin` of the lowering, whose module needs torch
    and is not imported here."""

    @property
    def name(self) -> str:
        """The FX node's name."""

    @property
    def operator(self) -> str:
        """Its ATen name."""

    @property
    def operands(self) -> str:
        """Their types, as a short text."""

    @property
    def source(self) -> SourceLine | None:
        """The user's line, if known."""


def unsupported_operations(
    error: IllegalProgramError, origins: Sequence[Origin]
) -> tuple[UnsupportedOp, ...]:
    """The operations behind the refusals of a graph whose nodes come from `origins`, each once.

    Empty if something is refused that no operation is behind, such as the size of the inputs.
    """
    found: dict[str, UnsupportedOp] = {}
    for refusal in error.refusals:
        if not refusal.nodes or max(refusal.nodes) >= len(origins):
            return ()
        for node in refusal.nodes:
            origin = origins[node]
            found.setdefault(
                origin.name,
                UnsupportedOp(
                    origin.operator,
                    origin.name,
                    origin.operands,
                    f"NCC_{refusal.code}: {refusal.why}.",
                    origin.source,
                ),
            )
    return tuple(found.values())
