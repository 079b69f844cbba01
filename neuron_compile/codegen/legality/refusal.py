"""What the compiler would refuse, what was done about it, and the error that lists all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from neuron_compile.errors import CodegenError, SourceLine

Sources = Callable[[int], SourceLine | None]


@dataclass(frozen=True, slots=True)
class Refusal:
    """One operation that the target's compiler would refuse.

    `code` is the documented code without its `NCC_` (`EVRF011`). `nodes` are the numbers of the FX
    nodes that the operation came from, empty where nothing tells. `way_out` says what the user can
    do about it.
    """

    code: str
    operation: str
    nodes: tuple[int, ...]
    why: str
    way_out: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """One operation that was replaced by an equal form which the compiler takes."""

    code: str
    operation: str
    nodes: tuple[int, ...]


class LocatedCodegenError(CodegenError):
    """A code generation error that knows the numbers of the nodes it is about."""

    nodes: tuple[int, ...] = ()

    def located(self, sources: Sources, graph: str = "") -> CodegenError:
        """The same error with the name of the graph and the user's source lines, for the nodes that
        `sources` knows."""
        return CodegenError(
            within(graph, self.what),
            where=[*self.where, *self.lines(sources)],
            why=self.why,
            hint=self.hint,
        )

    def lines(self, sources: Sources) -> list[str]:
        """The user's source lines, each once."""
        found = [str(source) for node in self.nodes if (source := sources(node))]
        return list(dict.fromkeys(found))


class IllegalProgramError(LocatedCodegenError):
    """A program that the target's compiler would refuse. `refusals` lists everything."""

    def __init__(
        self,
        refusals: Sequence[Refusal],
        *,
        target: str,
        sources: Sources | None = None,
        graph: str = "",
    ) -> None:
        self.refusals = tuple(refusals)
        self.target = target
        self.nodes = tuple(dict.fromkeys(node for r in refusals for node in r.nodes))
        count = len(self.refusals)
        noun = "operation" if count == 1 else "operations"
        super().__init__(
            within(graph, f"{count} {noun} cannot be compiled for {target}"),
            where=[_place(refusal, sources) for refusal in self.refusals],
            why="\n      ".join(dict.fromkeys(f"NCC_{r.code}: {r.why}" for r in self.refusals)),
            hint="\n      ".join(dict.fromkeys(r.way_out for r in self.refusals)),
        )

    def located(self, sources: Sources, graph: str = "") -> IllegalProgramError:
        """The same error with the graph's name, and the user's line behind every operation."""
        return IllegalProgramError(self.refusals, target=self.target, sources=sources, graph=graph)


def within(graph: str, what: str) -> str:
    """What failed, and in which graph, if its name is known."""
    return f"{graph}: {what}" if graph else what


def _place(refusal: Refusal, sources: Sources | None) -> str:
    found = [sources(node) for node in refusal.nodes] if sources else []
    lines = list(dict.fromkeys(str(source) for source in found if source))
    if not lines:
        lines = [f"node {node}" for node in refusal.nodes] or ["(no source line known)"]
    return f"NCC_{refusal.code}  {refusal.operation}   {'; '.join(lines)}"
