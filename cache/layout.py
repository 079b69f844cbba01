"""Where things are in a store's directory. Every name is built from a digest, never from user text.

ac/xx/<key>          action entries          cas/xx/<sha256>   blobs
tmp/                 files being written     quarantine/       damaged files, kept for a while
locks/ leases/       who works on what, who holds what
usage/ events/       approximate totals, and what happened lately
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from neuron_compile.cache.digests import is_digest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Kind = Literal["action", "blob"]
_FOLDER: dict[Kind, str] = {"action": "ac", "blob": "cas"}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the store: `size` in bytes as the disk counts them, `used` in seconds since the
    epoch; `changed_ns` is the file system's own time of its last change, in nanoseconds.
    """

    kind: Kind
    digest: str
    size: int
    used: float
    changed_ns: int = 0


@dataclass(frozen=True, slots=True)
class Layout:
    """The paths of one store."""

    root: Path

    def path(self, kind: Kind, digest: str) -> Path:
        """The path of an action entry or a blob."""
        return self.root / _FOLDER[kind] / digest[:2] / digest

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders in which files are looked for or begun."""
        kept = (self.root / name for name in _FOLDER.values())
        return (*kept, self.temporary, self.evicted, self.locks, self.leases, self.usage)

    @property
    def temporary(self) -> Path:
        """Files being written: on the same file system, where no look-up goes."""
        return self.root / "tmp"

    @property
    def evicted(self) -> Path:
        """Files on their way out, of a collection that is going on."""
        return self.root / "evicted"

    def aside(self, kind: Kind, digest: str) -> Path:
        """Where a file is that is on its way out."""
        return self.evicted / f"{kind}-{digest}"

    @property
    def quarantine(self) -> Path:
        """Damaged files, kept for a bounded time for study."""
        return self.root / "quarantine"

    @property
    def locks(self) -> Path:
        """Lock files; their existence means nothing."""
        return self.root / "locks"

    @property
    def leases(self) -> Path:
        """One file for each process that holds actions."""
        return self.root / "leases"

    @property
    def usage(self) -> Path:
        """The estimate of the store's size."""
        return self.root / "usage"

    @property
    def history(self) -> Path:
        """What was asked for in vain lately."""
        return self.root / "history"

    def files(self, kind: Kind) -> Iterator[StoredFile]:
        """Every file of one kind, in no order; what is not ours or vanishes meanwhile is passed
        over.
        """
        for shard in _scan(self.root / _FOLDER[kind]):
            for item in _scan(shard.path):
                if not is_digest(item.name) or item.name[:2] != shard.name:
                    continue
                try:
                    status = item.stat(follow_symlinks=False)
                except OSError:
                    continue
                # An empty file takes no block, and still a place in the directory.
                size = max(1, status.st_blocks) * 512
                yield StoredFile(kind, item.name, size, status.st_mtime, status.st_ctime_ns)


def kind_and_digest(name: str) -> tuple[Kind, str] | None:
    """What a file named `<kind>-<digest>` was; `None` if it is not named so."""
    for kind in _FOLDER:
        if name.startswith(f"{kind}-") and is_digest(name[len(kind) + 1 :]):
            return kind, name[len(kind) + 1 :]
    return None


def _scan(directory: Path | str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as items:
            return list(items)
    except OSError:
        return []
