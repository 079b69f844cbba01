"""A graph as AOTAutograd hands it over."""

from __future__ import annotations

import enum
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import torch.fx


class GraphRole(enum.StrEnum):
    """Which of AOTAutograd's graphs it is."""

    FORWARD = "forward"
    BACKWARD = "backward"
    INFERENCE = "inference"


_numbers = itertools.count()


class NamedGraph(Protocol):
    """A graph as people are told of it."""

    @property
    def model(self) -> str:
        """The model that it is of."""

    @property
    def role(self) -> GraphRole:
        """Which of the model's graphs it is."""

    @property
    def number(self) -> int:
        """Graphs are counted in a process."""

    @property
    def node_count(self) -> int:
        """Calls in the graph."""

    @property
    def name(self) -> str:
        """What messages call it."""


@dataclass(frozen=True, slots=True)
class CapturedGraph:
    """One functional FX graph, whose nodes carry fake tensors in `meta["val"]`.

    `model` and `number` (graphs are counted in a process) are for people and enter no cache key.
    """

    model: str
    role: GraphRole
    module: torch.fx.GraphModule
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def name(self) -> str:
        """What messages call it: `GPT2LMHeadModel backward (graph 1)`."""
        return f"{self.model} {self.role} (graph {self.number})"

    @property
    def node_count(self) -> int:
        """Calls in the graph."""
        return sum(node.op == "call_function" for node in self.module.graph.nodes)


@dataclass(frozen=True, slots=True)
class RestoredGraph:
    """A graph that an earlier process traced."""

    model: str
    role: GraphRole
    node_count: int
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def name(self) -> str:
        """As of a captured graph."""
        return f"{self.model} {self.role} (graph {self.number})"
