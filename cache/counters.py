"""What happened, in numbers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """Counts of one cache object since it was made. `seconds_saved` is the work that hits spared."""

    hits: int = 0
    remote_hits: int = 0
    misses: int = 0
    produced: int = 0
    stored: int = 0
    uncached: int = 0
    waits: int = 0
    wait_timeouts: int = 0
    evicted: int = 0
    seconds_saved: float = 0.0
