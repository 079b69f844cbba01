"""What a run measures, how often, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.backends import BACKENDS
from benchmarks.cases.listing import CASES


@dataclass(frozen=True, slots=True)
class Plan:
    """`seconds` a series, `budget` seconds for everything: no process begins that would exceed it,
    judged by the one like it in the round before."""

    cases: tuple[str, ...]
    backends: tuple[str, ...]
    scale: str
    rounds: int
    seconds: float
    budget: float

    def order(self, round_: int) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The round's cases, each with its backends in a turn that changes with the round, so that
        no backend always runs first."""
        shift = round_ % len(self.backends)
        turn = self.backends[shift:] + self.backends[:shift]
        return ((case, turn) for case in self.cases)


QUICK = Plan(("mlp", "resnet18", "gpt2_128"), BACKENDS, "quick", 2, 0.5, 5 * 60)
FULL = Plan(CASES, BACKENDS, "full", 3, 2.0, 40 * 60)
