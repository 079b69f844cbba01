"""One graph to be compiled, however often the program met it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from neuron_compile.compiler import Compiler, PreparedGraph
from neuron_compile.graph import GraphRole
from neuron_compile.lowering.program import TensorSpec


class State(enum.StrEnum):
    """How far a job is, by the word that people see."""

    WAITING = "waiting"
    COMPILING = "compiling"
    CACHED = "cached"
    COMPILED = "compiled"
    FAILED = "failed"

    @property
    def is_final(self) -> bool:
        """Whether nothing more will happen to the job."""
        return self not in (State.WAITING, State.COMPILING)


@dataclass(eq=False, slots=True)
class Job:
    """A graph, told from others by `key`, the digest of its lowering's inputs, and `target`.

    `prepared` is None for a graph that the cache had ready when the program met it. `names` and
    `roles` are those in which it was met: a forward graph that saves nothing of its own is an
    inference graph too. `seconds` is what compiling took.
    """

    key: str
    model: str
    role: GraphRole
    target: str
    node_count: int
    inputs: tuple[TensorSpec | None, ...]
    compiler: Compiler
    prepared: PreparedGraph | None
    names: list[str] = field(default_factory=list)
    roles: set[GraphRole] = field(default_factory=set)
    state: State = State.WAITING
    seconds: float = 0.0
    error: Exception | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.names[0]
