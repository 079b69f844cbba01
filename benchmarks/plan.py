"""What a run measures, how often, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from benchmarks.backends import BACKENDS
from benchmarks.cases.listing import CASES, DISPATCH, OPERATORS, OVERHEAD, PRODUCT, THREADS


@dataclass(frozen=True, slots=True)
class Plan:
    """`seconds` a series; `budget` seconds for everything: no case begins that would exceed it,
    judged by how long it took in the round before."""

    cases: tuple[str, ...]
    backends: tuple[str, ...]
    scale: str
    rounds: int
    seconds: float
    budget: float

    def order(self, round_: int) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The round's cases, each with its backends in a turn that changes with the round, so that
        none always runs first."""
        for case in self.cases:
            backends = [name for name in self.backends if name in CASES[case].backends]
            shift = round_ % len(backends) if backends else 0
            yield case, (*backends[shift:], *backends[:shift])


QUICK: Final = Plan(
    ("mlp", "resnet18", "gpt2_128", DISPATCH, PRODUCT, OVERHEAD, THREADS, OPERATORS),
    BACKENDS,
    "quick",
    rounds=2,
    seconds=0.5,
    budget=4.75 * 60,
)
FULL: Final = Plan(tuple(CASES), BACKENDS, "full", rounds=3, seconds=2.0, budget=39 * 60)
