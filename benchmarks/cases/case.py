"""What a case is, and what it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from benchmarks.backends import Backend
from benchmarks.protocol import Measurement
from benchmarks.series import Clock


@dataclass(frozen=True, slots=True)
class Context:
    """Under which backend, at which scale (`tiny`, `quick`, `full`), how many seconds a series."""

    backend: Backend
    scale: str
    seconds: float
    clock: Clock


class Case(Protocol):
    """Something to measure, in a process of its own for each backend."""

    def measure(self, context: Context) -> Measurement:
        """Measure in this process."""
