"""Removing files so that nobody loses one that it holds, without a lock for those who read.

Who reads or publishes an action records its hold first and acts then. Here files are first moved
out of sight, and then the holds are read again. So either the other one finds nothing there (and
produces, or writes its blob again), or its hold is found and the file is put back.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.disk import make_directory, put_back, read_whole
from neuron_compile.cache.entry import LARGEST_ENTRY, decode
from neuron_compile.cache.errors import CorruptEntryError
from neuron_compile.cache.layout import kind_and_digest
from neuron_compile.cache.sweeps import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from neuron_compile.cache.holds import Holds
    from neuron_compile.cache.layout import Kind, Layout, StoredFile

_BATCH: Final = 256
_TICKS: Final = 50
_ATTEMPTS: Final = 10


class Spared:
    """The files of every action that anyone has held since this began, in `marks`.

    For good: who published an action a moment ago and let it go is not to lose a blob of it.
    """

    def __init__(self, layout: Layout, holds: Holds) -> None:
        self.marks: set[tuple[Kind, str]] = set()
        self._layout = layout
        self._holds = holds
        self._keys: set[str] = set()
        self._absent: set[str] = set()

    def update(self) -> set[str]:
        """Add what is held now, and what was held before its entry was published. Returns the keys
        seen so far. Raises `OSError` if holds or a held entry cannot be read.
        """
        held = self._holds.everybody()
        for key in (held - self._keys) | self._absent:
            self.marks.add(("action", key))
            self._absent.add(key)
            if (blobs := self._blobs(key)) is not None:
                self.marks |= blobs
                self._absent.discard(key)
        self._keys |= held
        return self._keys

    def _blobs(self, key: str) -> set[tuple[Kind, str]] | None:
        path = self._layout.path("action", key)
        for _ in range(_ATTEMPTS):
            try:
                entry = decode(read_whole(path, LARGEST_ENTRY).data, key, None)
            except CorruptEntryError:
                return set()  # nobody will be served it
            except FileNotFoundError:
                if not path.exists():
                    return None
                continue  # published between the two
            return {("blob", output.digest) for output in entry.outputs}
        raise OSError(errno.ESTALE, "entry cannot be read", str(path))


def remove(
    layout: Layout, spared: Spared, victims: Sequence[StoredFile]
) -> Iterator[tuple[int, list[StoredFile]]]:
    """Remove the victims batch by batch, except what turns out to be held.

    Gives the number of victims dealt with so far and the files removed in this batch. Raises
    `OSError`, after putting back what was out of sight.
    """
    if victims:
        make_directory(layout.evicted)
    for start in range(0, len(victims), _BATCH):
        batch = victims[start : start + _BATCH]
        moved: dict[tuple[Kind, str], tuple[StoredFile, Path]] = {}
        removed = []
        try:
            for file in batch:
                with contextlib.suppress(FileNotFoundError):
                    moved[file.kind, file.digest] = (file, _move(layout, file))
            keys = spared.update()
            returning = [mark for mark in moved if mark[0] == "action" and mark[1] in keys]
            for mark in returning:
                _return(layout, *moved.pop(mark))
            if returning:
                spared.update()  # now their blobs can be read
            for mark, (file, path) in list(moved.items()):
                # Used again since it was chosen: by an action that was published meanwhile.
                if mark in spared.marks or _used(path) != file.used:
                    _return(layout, *moved.pop(mark))
                    continue
                try:
                    path.unlink()
                except FileNotFoundError:  # another machine has put it back
                    _return(layout, *moved.pop(mark))
                    continue
                del moved[mark]
                removed.append(file)
        finally:
            for file, path in moved.values():
                _return(layout, file, path)
        yield start + len(batch), removed


def stranded(layout: Layout) -> list[tuple[Kind, str]]:
    """What is out of sight: in the hands of who holds the collection lock, or of a killed one."""
    found = (kind_and_digest(path.name) for path in listed(layout.evicted))
    return [one for one in found if one is not None and not layout.path(*one).exists()]


def recover(layout: Layout) -> None:
    """Put back what a killed process had moved out of sight. The caller holds the collection lock.

    What a living one on another machine is at, where locks do not reach, just stays.
    """
    for path in listed(layout.evicted):
        with contextlib.suppress(OSError):
            if (found := kind_and_digest(path.name)) is None:
                path.unlink()
            else:
                put_back(path, layout.path(*found))


def clock_tick(layout: Layout) -> int:
    """A time of the file system's clock, in nanoseconds, that has passed when this returns.

    Its clock moves in steps of some milliseconds, and on a network file system it is the server's.
    """
    make_directory(layout.evicted)
    path = layout.evicted / f"clock-{os.urandom(8).hex()}"
    try:
        path.write_bytes(b"")
        first = path.stat().st_ctime_ns
        for _ in range(_TICKS):
            path.write_bytes(b".")
            if path.stat().st_ctime_ns > first:
                break
            time.sleep(0.001)
    finally:
        with contextlib.suppress(OSError):
            path.unlink()
    return first


def _move(layout: Layout, file: StoredFile) -> Path:
    path = layout.aside(file.kind, file.digest)
    layout.path(file.kind, file.digest).replace(path)
    return path


def _used(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return None


def _return(layout: Layout, file: StoredFile, path: Path) -> None:
    with contextlib.suppress(OSError):
        put_back(path, layout.path(file.kind, file.digest))
