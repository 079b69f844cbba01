"""What happened, in numbers."""

from __future__ import annotations

from typing import Final, Literal

from neuron_compile.cache.forks import Guard

Event = Literal[
    "hits", "remote_hits", "misses", "produced", "stored", "uncached", "waits", "wait_timeouts",
    "evicted", "sent",
]  # fmt: skip
EVENTS: Final[tuple[Event, ...]] = Event.__args__  # type: ignore[attr-defined]


class Counters:
    """Counts of events since the object was made, and the seconds of work that hits spared."""

    def __init__(self) -> None:
        self._guard = Guard()
        self._counts: dict[Event, int] = dict.fromkeys(EVENTS, 0)
        self._seconds_saved = 0.0

    def add(self, event: Event, count: int = 1, *, seconds_saved: float = 0.0) -> None:
        """Count `event`, `count` times."""
        with self._guard:
            self._counts[event] += count
            self._seconds_saved += seconds_saved

    def __getitem__(self, event: Event) -> int:
        return self._counts[event]

    def snapshot(self) -> dict[str, float]:
        """All counts by name, with `seconds_saved`."""
        with self._guard:
            counts: dict[str, float] = {event: float(self._counts[event]) for event in EVENTS}
        return {**counts, "seconds_saved": self._seconds_saved}
