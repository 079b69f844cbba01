"""Keeping a store within its limits: when it is time to evict, and who does it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.locks import try_lock
from neuron_compile.cache.usage import Usage, UsageLog

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from neuron_compile.cache.collector import Collection
    from neuron_compile.cache.holds import Holds
    from neuron_compile.cache.layout import Layout
    from neuron_compile.cache.policy import Limits

_MEASURE_EVERY: Final = 24 * 3600.0
_SLACK: Final = 0.05
_PUBLISHER_SECONDS: Final = 2.0
"""The most that evicting may delay one who has just produced something; the next one goes on."""
_PAUSE: Final = 0.02
_FAR_OVER: Final = 1.25


class Bounds:
    """The limits of one store, which a publisher keeps by the way and others on demand.

    What was used within `spare_seconds` is not evicted.
    """

    def __init__(
        self,
        layout: Layout,
        holds: Holds,
        limits: Limits,
        lock_directories: Sequence[Path],
        spare_seconds: float,
        clock: Callable[[], float],
    ) -> None:
        self.usage = UsageLog(layout.usage, layout.temporary)
        self._layout = layout
        self._holds = holds
        self._limits = limits
        self._lock_directories = lock_directories
        self._spare_seconds = spare_seconds
        self._clock = clock

    @property
    def collection_lock(self) -> Path:
        """Held by who removes files, or puts back what a killed one had moved out of sight."""
        return self._lock_directories[-1] / "collection"

    def is_too_large(self, size_bytes: int) -> bool:
        """Whether a single entry of so many bytes would leave no room for anything else."""
        largest = self._limits.max_bytes
        return largest is not None and size_bytes > largest * (1 - _SLACK)

    def keep(self, sizes: list[int], now: float) -> None:
        """Account for files of these `sizes`, published at `now`, and evict if that is due.

        Raises `OSError`.
        """
        limits = self._limits
        if (
            limits.max_bytes is None
            and limits.max_entries is None
            and limits.max_age_seconds is None
        ):
            return
        self.usage.add(sizes)
        end = time.monotonic() + _PUBLISHER_SECONDS
        while self._is_due(now):
            done = self.collect(limits, _PUBLISHER_SECONDS)
            if done is not None or not self._is_far_over() or time.monotonic() > end:
                return
            time.sleep(_PAUSE)  # another process is at it, and falls behind those who publish

    def collect(self, limits: Limits, seconds: float = float("inf")) -> Collection | None:
        """Evict down to `limits`, or for about so many `seconds`; `None` if another process is at
        it. Raises `OSError`.
        """
        from neuron_compile.cache import collector
        from neuron_compile.cache.sweeps import sweep_locks

        lock = try_lock(self.collection_lock)
        if lock is None:
            return None
        try:
            now = self._clock()
            before = self.usage.estimate()
            for directory in self._lock_directories:
                sweep_locks(directory, now)
            end = time.monotonic() + seconds
            done = collector.collect(
                self._layout,
                self._holds,
                limits,
                now,
                spare_seconds=self._spare_seconds,
                is_late=lambda: time.monotonic() > end,
            )
            measured = Usage(done.size_bytes, done.entries, now, done.is_finished)
            self.usage.reset(measured, since=before)
            return done
        finally:
            lock.release()

    def _is_due(self, now: float) -> bool:
        estimate = self.usage.estimate()
        measured = self.usage.measured()
        return estimate is None or measured is None or is_due(estimate, measured, self._limits, now)

    def _is_far_over(self) -> bool:
        estimate = self.usage.estimate()
        if estimate is None or self._limits.max_bytes is None:
            return False
        return estimate.size_bytes > _FAR_OVER * self._limits.max_bytes


def is_due(estimate: Usage, measured: Usage, limits: Limits, now: float) -> bool:
    """Whether it is time to collect: over a limit, a day since the last time, or work left over.

    If the last collection could not get below the limit (all was held), a twentieth of it must have
    been written since: else every publication would look at the whole store.
    """
    if abs(now - measured.measured_at) > _MEASURE_EVERY or not measured.is_finished:
        return True
    pairs = (
        (estimate.size_bytes, measured.size_bytes, limits.max_bytes),
        (estimate.entries, measured.entries, limits.max_entries),
    )
    return any(
        limit is not None and now_there > limit and now_there - then >= min(limit, then) * _SLACK
        for now_there, then, limit in pairs
    )
