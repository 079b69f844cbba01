"""Removing what processes left that are gone. A living one holds a lock on what it uses."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.locks import try_lock

if TYPE_CHECKING:
    from pathlib import Path

_IDLE_LOCK_SECONDS: Final = 24 * 3600.0


def sweep_temporary(directory: Path) -> int:
    """Remove files whose writer is gone: a live one holds a lock on its file. Returns the count."""
    removed = 0
    for path in listed(directory):
        with contextlib.suppress(OSError):
            lock = try_lock(path, create=False)
            if lock is not None:
                lock.release(remove=True)
                removed += 1
    return removed


def sweep_locks(directory: Path, now: float) -> None:
    """Remove lock files that nobody holds and nobody has taken for a day."""
    for path in listed(directory):
        with contextlib.suppress(OSError):
            if now - path.stat().st_mtime < _IDLE_LOCK_SECONDS:
                continue
            lock = try_lock(path, create=False)
            if lock is not None:
                lock.release(remove=True)


def listed(directory: Path) -> list[Path]:
    """What is in `directory`; nothing, if it cannot be read."""
    try:
        return list(directory.iterdir())
    except OSError:
        return []
