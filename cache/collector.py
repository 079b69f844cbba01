"""Removing: eviction within limits, and all else that a store gathers and no longer needs."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_compile.cache import quarantine
from neuron_compile.cache.disk import make_directory, put_back, read_whole
from neuron_compile.cache.entry import LARGEST_ENTRY, decode
from neuron_compile.cache.errors import CorruptEntryError
from neuron_compile.cache.eviction import choose_victims
from neuron_compile.cache.locks import try_lock
from neuron_compile.cache.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from neuron_compile.cache.holds import Holds
    from neuron_compile.cache.layout import Kind, Layout, StoredFile
    from neuron_compile.cache.policy import Limits

_BATCH: Final = 256
_IDLE_LOCK_SECONDS: Final = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class Collection:
    """What a collection did: actions and bytes removed, actions and bytes left.

    `is_finished` is false if its time ran out before the limits were met.
    """

    removed_entries: int
    removed_bytes: int
    entries: int
    size_bytes: int
    is_finished: bool = True


def collect(
    layout: Layout,
    holds: Holds,
    limits: Limits,
    now: float,
    *,
    spare_seconds: float = 0.0,
    is_late: Callable[[], bool] = lambda: False,
) -> Collection:
    """Bring the store within `limits`, sparing what running processes hold.

    It ends early, between two batches of removals, when `is_late`. The caller holds the collection
    lock. Files that vanish meanwhile are somebody else's work.
    """
    sweep_temporary(layout.temporary)
    for path in _listed(layout.evicted):  # of a collection that was killed
        with contextlib.suppress(OSError):
            path.unlink()
    quarantine.sweep(layout.quarantine, now)
    files = [*layout.files("action"), *layout.files("blob")]
    held = _with_blobs(layout, holds.everybody())
    victims = choose_victims(files, limits, now, held, spare_seconds)
    removed: list[StoredFile] = []
    tried = 0
    for batch in _remove(layout, holds, victims):
        removed += batch
        tried += _BATCH
        if is_late():
            break
    removed_bytes = sum(file.size for file in removed)
    removed_entries = sum(file.kind == "action" for file in removed)
    entries = sum(file.kind == "action" for file in files) - removed_entries
    size = sum(file.size for file in files) - removed_bytes
    return Collection(removed_entries, removed_bytes, entries, size, tried >= len(victims))


def clear(layout: Layout) -> Collection:
    """Remove every action and blob, held or not. Who has the bytes in memory keeps them."""
    removed_bytes = removed_entries = 0
    kinds: tuple[Kind, ...] = ("action", "blob")
    for kind in kinds:
        for file in layout.files(kind):
            with contextlib.suppress(FileNotFoundError):
                layout.path(kind, file.digest).unlink()
                removed_bytes += file.size
                removed_entries += kind == "action"
    sweep_temporary(layout.temporary)
    return Collection(removed_entries, removed_bytes, 0, 0)


def measure(layout: Layout, now: float) -> Usage:
    """The store's size by looking at every file."""
    actions = list(layout.files("action"))
    size = sum(file.size for file in actions) + sum(file.size for file in layout.files("blob"))
    return Usage(size, len(actions), now)


def sweep_temporary(directory: Path) -> int:
    """Remove files whose writer is gone: a live one holds a lock on its file. Returns the count."""
    removed = 0
    for path in _listed(directory):
        with contextlib.suppress(OSError):
            lock = try_lock(path)
            if lock is not None:
                lock.release(remove=True)
                removed += 1
    return removed


def sweep_locks(directory: Path, now: float) -> None:
    """Remove lock files that nobody holds and nobody has taken for a day."""
    for path in _listed(directory):
        with contextlib.suppress(OSError):
            if now - path.stat().st_mtime < _IDLE_LOCK_SECONDS:
                continue
            lock = try_lock(path)
            if lock is not None:
                lock.release(remove=True)


def _remove(
    layout: Layout, holds: Holds, victims: Sequence[StoredFile]
) -> Iterator[list[StoredFile]]:
    """Remove the victims, batch by batch, except those that were taken hold of since they were
    chosen.

    Who reads records its hold first and reads then; here files are first moved out of sight, and
    then the holds are read again. So either the reader finds nothing, or its hold is found and the
    file put back: no order of the two loses a file that is held.
    """
    if victims:
        make_directory(layout.evicted)
    spared: set[tuple[Kind, str]] = set()
    for start in range(0, len(victims), _BATCH):
        moved: dict[tuple[Kind, str], tuple[StoredFile, Path]] = {}
        for file in victims[start : start + _BATCH]:
            with contextlib.suppress(FileNotFoundError):
                moved[file.kind, file.digest] = (file, _moved(layout, file))
        try:
            held = holds.everybody()
            for key in held:
                if ("action", key) in moved:
                    _put_back(layout, *moved.pop(("action", key)))
            # For good: an action that came back keeps its blobs, which may be in a later batch.
            spared |= _with_blobs(layout, held)
        except OSError:
            for file, path in moved.values():
                _put_back(layout, file, path)
            raise
        removed = []
        for file, path in moved.values():
            # Used again since it was chosen, by an action that was published meanwhile.
            if (file.kind, file.digest) in spared or path.stat().st_mtime != file.used:
                _put_back(layout, file, path)
                continue
            path.unlink()
            removed.append(file)
        yield removed


def _moved(layout: Layout, file: StoredFile) -> Path:
    path = layout.evicted / os.urandom(16).hex()
    layout.path(file.kind, file.digest).rename(path)
    return path


def _put_back(layout: Layout, file: StoredFile, out_of_sight: Path) -> None:
    with contextlib.suppress(OSError):
        put_back(out_of_sight, layout.path(file.kind, file.digest))


def _with_blobs(layout: Layout, keys: Iterable[str]) -> set[tuple[Kind, str]]:
    """The files of these actions. Raises `OSError` if one cannot be read, for then its blobs are
    not known.
    """
    marks: set[tuple[Kind, str]] = set()
    for key in keys:
        marks.add(("action", key))
        path = layout.path("action", key)
        try:
            data = read_whole(path, LARGEST_ENTRY).data
            marks.update(("blob", output.digest) for output in decode(data, key, None).outputs)
        except CorruptEntryError:
            continue  # nobody will be served it
        except FileNotFoundError:
            if path.exists():
                raise
    return marks


def _listed(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except OSError:
        return []
