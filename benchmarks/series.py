"""Repeated timings of one call."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# A sample shorter than this would measure the clock.
_SHORTEST_SAMPLE = 1e-3


@dataclass(frozen=True, slots=True)
class Series:
    """Samples of one call, in seconds: by the clock (`wall`) and of all the process's threads
    (`cpu`). A sample is the mean of as many calls as take a millisecond."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @property
    def median(self) -> float:
        """Median seconds by the clock."""
        return statistics.median(self.wall)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        return {"wall": list(self.wall), "cpu": list(self.cpu)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Series:
        """Read what `to_json` wrote."""
        return cls(tuple(value["wall"]), tuple(value["cpu"]))


@dataclass(frozen=True, slots=True)
class Clock:
    """What tells the time, in seconds."""

    wall: Callable[[], float] = time.perf_counter
    cpu: Callable[[], float] = time.process_time

    def once(self, call: Callable[[], object]) -> Series:
        """The series of one call."""
        wall, cpu = self.wall(), self.cpu()
        call()
        return Series((self.wall() - wall,), (self.cpu() - cpu,))

    def repeatedly(
        self,
        call: Callable[[], object],
        seconds: float,
        before: Callable[[], object] | None = None,
    ) -> Series:
        """Call for about `seconds`, three times at least, with Python's garbage collector off.

        With `before`, each sample is one call, right after a call of `before`, which is not timed.
        Warm up first.
        """
        shortest = max(self.once(call).wall[0], 1e-9)
        calls = 1 if before else math.ceil(_SHORTEST_SAMPLE / shortest)
        samples: list[Series] = []
        end = self.wall() + seconds
        gc.collect()
        gc.disable()
        try:
            while len(samples) < 3 or (self.wall() < end and len(samples) < 500):
                if before:
                    before()
                samples.append(self.once(lambda: _repeat(call, calls)))
        finally:
            gc.enable()
        return Series(
            tuple(sample.wall[0] / calls for sample in samples),
            tuple(sample.cpu[0] / calls for sample in samples),
        )


def _repeat(call: Callable[[], object], times: int) -> None:
    for _ in range(times):
        call()
