"""What is done to a store as a whole. Unlike a look-up, these raise when they cannot do it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from neuron_compile.cache import bundle, collector
from neuron_compile.cache.entry import decode
from neuron_compile.cache.errors import CacheError, CorruptEntryError
from neuron_compile.cache.store import check_blob

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neuron_compile.cache.entry import ActionEntry
    from neuron_compile.cache.local_tier import LocalTier
    from neuron_compile.cache.store import StoredAction


def entries(tier: LocalTier, newest: int | None = None) -> Iterator[ActionEntry]:
    """The entries of the store, the most recently used first; damaged ones are passed over."""
    files = sorted(tier.layout.files("action"), key=lambda file: (-file.used, file.digest))
    for file in files[:newest]:
        with contextlib.suppress(OSError, CacheError):
            stored = tier.store.read_action(file.digest)
            if stored is not None:
                yield stored.entry


def find(tier: LocalTier, prefix: str) -> list[ActionEntry]:
    """The sound entries whose key begins with `prefix`, in the order of their keys."""
    require_usable(tier, writable=False)
    names = sorted(file.digest for file in tier.layout.files("action"))
    found = []
    for name in names:
        with contextlib.suppress(OSError, CacheError):
            stored = tier.store.read_action(name) if name.startswith(prefix) else None
            if stored is not None:
                found.append(stored.entry)
    return found


def clear(tier: LocalTier) -> collector.Collection:
    """Remove everything. Raises `OSError`, and `CacheError` if the store may not be written."""
    require_usable(tier, writable=True)
    done = collector.clear(tier.layout)
    tier.usage.reset(collector.measure(tier.layout, tier.clock()))
    return done


def export(tier: LocalTier, keys: Iterable[str] | None, target: Path | BinaryIO) -> int:
    """Write a bundle of the entries of `keys` (`None`: all that are sound); returns their number.

    Raises `CacheError` for a key of `keys` that has no sound entry, and if the store is not used.
    """
    require_usable(tier, writable=False)
    tier.recover()
    exported = 0

    def records() -> Iterator[bundle.Record]:
        nonlocal exported
        done: set[str] = set()
        names = {file.digest for file in tier.layout.files("action")} if keys is None else set(keys)
        for key in sorted(names):
            try:
                stored, blobs = _sound(tier, key)
            except CacheError:
                if keys is None:
                    continue
                raise
            for digest in sorted(blobs.keys() - done):
                yield bundle.Record("blob", digest, blobs[digest])
            done |= blobs.keys()
            yield bundle.Record("action", key, stored.data)
            exported += 1

    with _written(target) as stream:
        bundle.write(stream, records())
    return exported


def _sound(tier: LocalTier, key: str) -> tuple[StoredAction, dict[str, bytes]]:
    stored = tier.store.read_action(key)
    if stored is None:
        raise CacheError(f"the cache has no entry {key[:12]}")
    blobs = {output.digest: tier.store.read_blob(output) for output in stored.entry.outputs}
    sound = {digest: data for digest, data in blobs.items() if data is not None}
    if len(sound) < len(blobs):
        raise CacheError(f"the entry {key[:12]} has lost a blob")
    return stored, sound


def import_from(tier: LocalTier, source: Path | BinaryIO) -> bundle.ImportReport:
    """Publish the entries of a bundle, after all of it has proven sound.

    Raises `CorruptEntryError` if it is damaged, lacks a blob, or is not signed as the policy
    demands; `CacheError` if the store cannot be written.
    """
    require_usable(tier, writable=True)
    with _opened(source) as stream:
        index = bundle.index(stream)
        loaded = [
            (decode(data := place.read(stream), key, tier.store.signer), data)
            for key, place in sorted(index.actions.items())
        ]
        for entry, _ in loaded:
            if any(output.digest not in index.blobs for output in entry.outputs):
                raise CorruptEntryError(f"the bundle lacks a blob of its entry {entry.key[:12]}")
        added = sum(_import(tier, index, stream, entry, data) for entry, data in loaded)
    return bundle.ImportReport(len(loaded), added)


def _import(
    tier: LocalTier, index: bundle.Index, stream: BinaryIO, entry: ActionEntry, data: bytes
) -> bool:
    if tier.look_up(entry.key) is not None:
        return False
    blobs = {output.name: index.blobs[output.digest].read(stream) for output in entry.outputs}
    for output in entry.outputs:
        check_blob(output, blobs[output.name])
    if tier.publish(entry, blobs, data) is None:
        raise CacheError(f"the cache {tier.layout.root} cannot be written")
    return True


def require_usable(tier: LocalTier, *, writable: bool) -> None:
    """Raise `CacheError` if the store is not used, or (when `writable`) is only read."""
    if tier.problem or (writable and not tier.is_writable):
        raise CacheError(f"the cache {tier.layout.root} is {tier.problem or 'read-only'}")


@contextlib.contextmanager
def _written(target: Path | BinaryIO) -> Iterator[BinaryIO]:
    """A stream that becomes the file `target` once all has been written; a stream stays itself."""
    if not isinstance(target, Path):
        yield target
        return
    aside = target.with_name(f".{target.name}.{os.urandom(8).hex()}")
    try:
        with aside.open("xb") as stream:
            yield stream
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)


@contextlib.contextmanager
def _opened(source: Path | BinaryIO) -> Iterator[BinaryIO]:
    if not isinstance(source, Path):
        yield source
        return
    with source.open("rb") as stream:
        yield stream
