"""How far the warm-up is, in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from neuron_compile.warmup.job import Job, State


class Tally:
    """Counts of `jobs` by state, of which `width` are compiled side by side."""

    def __init__(self, jobs: Sequence[Job], width: int) -> None:
        self._jobs = jobs
        self._width = width

    def count(self, state: State) -> int:
        """How many jobs are in a state."""
        return sum(job.state is state for job in self._jobs)

    @property
    def total(self) -> int:
        """All jobs."""
        return len(self._jobs)

    @property
    def ended(self) -> int:
        """Jobs of which nothing more is to come."""
        return sum(job.state.is_final for job in self._jobs)

    @property
    def seconds_remaining(self) -> float | None:
        """By the time that an operation took in those compiled so far; None before the first."""
        compiled = [job for job in self._jobs if job.state is State.COMPILED]
        nodes = sum(job.node_count for job in compiled)
        if not nodes:
            return None
        left = sum(job.node_count for job in self._jobs if not job.state.is_final)
        return sum(job.seconds for job in compiled) / nodes * left / self._width
