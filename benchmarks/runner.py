"""Carries out a plan: rounds over cases over backends."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.cases.listing import CASES
from benchmarks.launch import Failure, launch
from benchmarks.plan import Plan
from benchmarks.protocol import Measurement, Request
from benchmarks.results import Entry, Results

Launch = Callable[[Request, Path, float], Measurement | Failure]


class Runner:
    """Runs the processes of a plan one after the other, each backend of a case after the other, so
    that what else the machine does falls on all of them."""

    def __init__(
        self,
        plan: Plan,
        caches: Path,
        tell: Callable[[str], None] = print,
        launch: Launch = launch,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`caches` is an empty folder: each case and backend gets its own caches in it."""
        self._plan = plan
        self._caches = caches
        self._tell = tell
        self._launch = launch
        self._clock = clock
        self._took: dict[tuple[str, str], float] = {}

    def run(self, results: Results) -> None:
        """Add to `results` what is measured, as it is measured."""
        end = self._clock() + self._plan.budget
        for round_ in range(self._plan.rounds):
            for case, backends in self._plan.order(round_):
                expected = sum(self._took.get((case, backend), 0) for backend in backends)
                if self._clock() + expected > end:
                    self._tell(f"round {round_ + 1}: no time left for {case}")
                    continue
                for backend in backends:
                    self._measure_starts(results, case, backend, round_, end)

    def _measure_starts(
        self, results: Results, case: str, backend: str, round_: int, end: float
    ) -> None:
        begin = self._clock()
        restarted = CASES[case].restarted
        for _ in range(2 if restarted else 1):
            left = end - self._clock()
            if left > 0:
                name = f"{case}-{backend}" + (f"-{round_}" if restarted else "")
                caches = self._caches / name
                results.entries.append(self._measure(case, backend, round_, caches, left))
        self._took[case, backend] = self._clock() - begin

    def _measure(
        self, case: str, backend: str, round_: int, caches: Path, time_limit: float
    ) -> Entry:
        is_cold = not caches.exists()
        caches.mkdir(exist_ok=True)
        request = Request(case, backend, self._plan.scale, self._plan.seconds)
        begin = self._clock()
        outcome = self._launch(request, caches, time_limit)
        took = self._clock() - begin
        error = outcome.why if isinstance(outcome, Failure) else ""
        measurement = Measurement() if isinstance(outcome, Failure) else outcome
        self._tell(f"round {round_ + 1}  {case:<12}{backend:<10}{took:6.1f} s  {error}".rstrip())
        return Entry(case, backend, round_, is_cold, measurement, error)
