"""About how full the store is, without looking: files whose length is the count.

Each publication appends one byte for each block of 4 KiB it wrote to one file, and one byte for its
entry to another. Appending needs no lock and the length is one `stat`. A collection measures the
store, writes what it found into `measured`, and begins new files.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_compile.cache import disk
from neuron_compile.cache.errors import CorruptEntryError

if TYPE_CHECKING:
    from pathlib import Path

_BLOCK: Final = 4096
_LARGEST_SNAPSHOT: Final = 4096


@dataclass(frozen=True, slots=True)
class Usage:
    """Bytes on disk and action entries in a store, and when that was measured (seconds since the
    epoch); whether the collection that measured it got all its work done.
    """

    size_bytes: int
    entries: int
    measured_at: float
    is_finished: bool = True


class UsageLog:
    """The running estimate of one store, in `directory`; `temporary` is on the same file system."""

    def __init__(self, directory: Path, temporary: Path) -> None:
        self._directory = directory
        self._temporary = temporary

    def add(self, sizes: list[int]) -> None:
        """Count one entry whose files have these `sizes` in bytes. Raises `OSError`."""
        blocks = sum(max(1, -(-size // _BLOCK)) for size in sizes)
        generation = self._read()[1]
        self._append(f"blocks-{generation}", blocks)
        self._append(f"entries-{generation}", 1)

    def measured(self) -> Usage | None:
        """What the last collection found, or `None` if there was none."""
        return self._read()[0]

    def estimate(self) -> Usage | None:
        """What it found and what has been written since, or `None`. Raises `OSError`."""
        base, generation = self._read()
        if base is None:
            return None
        blocks = self._length(f"blocks-{generation}")
        entries = self._length(f"entries-{generation}")
        size = base.size_bytes + blocks * _BLOCK
        return Usage(size, base.entries + entries, base.measured_at, base.is_finished)

    def reset(self, measured: Usage, since: Usage | None = None) -> None:
        """Take over the result of a collection, and add what others wrote while it went on: since
        the estimate was `since`. Raises `OSError`.
        """
        old = self._read()[1]
        now = self.estimate()
        if since is None or now is None:
            since = now = measured
        snapshot = {
            "bytes": measured.size_bytes + now.size_bytes - since.size_bytes,
            "entries": measured.entries + now.entries - since.entries,
            "at": measured.measured_at,
            "finished": measured.is_finished,
            "generation": old + 1,
        }
        disk.write_whole(self._temporary, self._path, json.dumps(snapshot).encode())
        for name in (f"blocks-{old}", f"entries-{old}"):
            with contextlib.suppress(OSError):
                (self._directory / name).unlink()

    @property
    def _path(self) -> Path:
        return self._directory / "measured"

    def _read(self) -> tuple[Usage | None, int]:
        try:
            snapshot = json.loads(disk.read_whole(self._path, _LARGEST_SNAPSHOT).data)
            usage = Usage(
                int(snapshot["bytes"]),
                int(snapshot["entries"]),
                float(snapshot["at"]),
                bool(snapshot["finished"]),
            )
            return usage, int(snapshot["generation"])
        except FileNotFoundError:
            return None, 0
        except (CorruptEntryError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None, 0  # an estimate: a damaged one is measured anew

    def _length(self, name: str) -> int:
        try:
            return (self._directory / name).stat().st_size
        except FileNotFoundError:
            return 0

    def _append(self, name: str, count: int) -> None:
        path = self._directory / name
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = disk.in_directory(self._directory, lambda: os.open(path, flags, 0o666))
        try:
            os.write(descriptor, b"." * count)
        finally:
            os.close(descriptor)
