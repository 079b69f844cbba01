"""The store looks at itself: every entry decoded, every blob hashed, every reference followed."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.digests import digest_of, is_digest
from neuron_compile.cache.disk import make_directory, put_back
from neuron_compile.cache.entry import LARGEST_ENTRY, ActionEntry, OutputBlob, decode
from neuron_compile.cache.errors import CacheError, CorruptEntryError
from neuron_compile.cache.locks import try_lock
from neuron_compile.cache.removal import Spared, recover, remove, stranded
from neuron_compile.cache.sweeps import sweep_temporary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from neuron_compile.cache.layout import Kind, StoredFile
    from neuron_compile.cache.local_tier import LocalTier
    from neuron_compile.cache.store import Store

_LARGEST_BLOB: Final = 1 << 40
_ORPHAN_GRACE: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a file of the store, named relative to it."""

    file: str
    what: str


@dataclass(slots=True)
class Audit:
    """What `check` found.

    `problems` are files that a look-up would refuse, actions without their blobs, and files that a
    killed collection had moved away (the next look-up that misses them puts them back).
    `orphan_blobs` no action refers to, `abandoned` files a killed writer left, `foreign` files are
    none of the store's: those three do no harm.
    """

    actions: int = 0
    blobs: int = 0
    size_bytes: int = 0
    problems: list[Problem] = field(default_factory=list)
    orphan_blobs: int = 0
    abandoned: int = 0
    foreign: list[str] = field(default_factory=list)
    repaired: int = 0

    @property
    def is_clean(self) -> bool:
        """Whether every entry would be served, and right."""
        return not self.problems


def check(tier: LocalTier, now: float, *, repair: bool) -> Audit:
    """Verify everything in the store of `tier`, while others may use it.

    With `repair` what a killed collection had moved away is put back, damaged files are set aside,
    actions without their blobs are removed, and so are orphan blobs unused for an hour (younger
    ones may belong to an action that is being published) and abandoned files. Raises `OSError` if
    the directory cannot be read, `CacheError` if it is to be repaired and another process is
    removing files from it.
    """
    if not repair:
        return _check(tier, now, None)
    lock = try_lock(tier.collection_lock)
    if lock is None:
        raise CacheError(f"another process is evicting from {tier.layout.root} at the moment")
    try:
        recover(tier.layout)
        # What anyone holds from here on is spared.
        spared = Spared(tier.layout, tier.holds)
        spared.update()
        return _check(tier, now, spared)
    finally:
        lock.release()


def _check(tier: LocalTier, now: float, spared: Spared | None) -> Audit:
    audit = Audit()
    store, repair = tier.store, spared is not None
    sound = _check_blobs(store, audit, repair=repair)
    wanted = _check_actions(store, audit, sound, repair=repair)
    orphans = [file for digest, file in sound.items() if digest not in wanted]
    audit.orphan_blobs = len(orphans)
    audit.foreign = sorted(_foreign(store))
    if spared is not None:
        spared.update()
        old = [
            file
            for file in orphans
            if now - file.used > _ORPHAN_GRACE and (file.kind, file.digest) not in spared.marks
        ]
        audit.repaired += sum(len(batch) for _, batch in remove(tier.layout, spared, old))
        audit.abandoned = sweep_temporary(store.layout.temporary)
        audit.repaired += audit.abandoned
        return audit
    if not _is_collecting(tier):
        for kind, digest in stranded(tier.layout):
            file = f"{tier.layout.evicted.name}/{kind}-{digest}"
            audit.problems.append(Problem(file, "was moved away by a process that was killed"))
    with contextlib.suppress(OSError):
        audit.abandoned = sum(1 for _ in store.layout.temporary.iterdir())
    return audit


def _is_collecting(tier: LocalTier) -> bool:
    try:
        lock = try_lock(tier.collection_lock, create=False)
    except OSError:
        return False
    if lock is not None:
        lock.release()
    return lock is None


def _check_blobs(store: Store, audit: Audit, *, repair: bool) -> dict[str, StoredFile]:
    sound = {}
    for file in store.layout.files("blob"):
        inode = 0
        try:
            found = store.read_file("blob", file.digest, _LARGEST_BLOB)
            inode = found.inode
            if digest_of(found.data) != file.digest:
                raise CorruptEntryError("content does not match its digest")
        except FileNotFoundError:
            continue
        except (OSError, CacheError) as error:
            _report(store, audit, "blob", file.digest, inode, str(error), repair=repair)
            continue
        sound[file.digest] = file
        audit.blobs += 1
        audit.size_bytes += len(found.data)
    return sound


def _check_actions(
    store: Store, audit: Audit, sound: dict[str, StoredFile], *, repair: bool
) -> set[str]:
    wanted: set[str] = set()
    for file in store.layout.files("action"):
        inode = 0
        path = store.layout.path("action", file.digest)
        try:
            found = store.read_file("action", file.digest, LARGEST_ENTRY)
            inode = found.inode
            entry = decode(found.data, file.digest, store.signer)
        except FileNotFoundError:
            continue
        except (OSError, CacheError) as error:
            _report(store, audit, "action", file.digest, inode, str(error), repair=repair)
            continue
        audit.actions += 1
        audit.size_bytes += len(found.data)
        wanted.update(output.digest for output in entry.outputs)
        missing = [output for output in entry.outputs if not _has(store, output, sound)]
        if missing and path.exists():  # else it has been evicted meanwhile, before its blobs
            what = f"its blob {missing[0].digest[:12]} ({missing[0].name}) is missing or damaged"
            audit.problems.append(Problem(_name("action", file.digest), what))
            if repair and _drop(store, entry, inode):
                audit.repaired += 1
    return wanted


def _drop(store: Store, entry: ActionEntry, inode: int) -> bool:
    """Remove the entry in the file `inode`, unless it or its blobs have been published anew."""
    path, aside = store.layout.path("action", entry.key), store.layout.aside("action", entry.key)
    with contextlib.suppress(OSError):
        make_directory(aside.parent)
        path.replace(aside)
        if aside.stat().st_ino != inode or all(_has(store, blob, {}) for blob in entry.outputs):
            put_back(aside, path)
            return False
        aside.unlink()
        return True
    return False


def _has(store: Store, output: OutputBlob, sound: dict[str, StoredFile]) -> bool:
    if output.digest in sound:
        return True
    try:  # published since the blobs were looked at?
        data = store.read_file("blob", output.digest, output.size).data
    except (OSError, CacheError):
        return False
    return digest_of(data) == output.digest


def _report(
    store: Store, audit: Audit, kind: Kind, digest: str, inode: int, what: str, *, repair: bool
) -> None:
    audit.problems.append(Problem(_name(kind, digest), what))
    if repair:
        store.set_aside(kind, digest, inode)
        audit.repaired += 1


def _name(kind: Kind, digest: str) -> str:
    folder = "ac" if kind == "action" else "cas"
    return f"{folder}/{digest[:2]}/{digest}"


def _foreign(store: Store) -> Iterator[str]:
    root = store.layout.root
    for folder in ("ac", "cas"):
        for shard in _listed(root / folder):
            if not shard.is_dir():
                yield str(shard.relative_to(root))
                continue
            for path in _listed(shard):
                if not is_digest(path.name) or path.name[:2] != shard.name:
                    yield str(path.relative_to(root))


def _listed(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except FileNotFoundError:
        return []
