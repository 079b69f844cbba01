"""The local tier: a store with its limits and holds, whose failures are complaints and never
exceptions.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Final, TypeVar

from neuron_compile.cache.bounds import Bounds
from neuron_compile.cache.disk import make_directory
from neuron_compile.cache.errors import CacheError, CorruptEntryError, UntrustedDirectoryError
from neuron_compile.cache.filesystem import has_coherent_locks
from neuron_compile.cache.found import Found
from neuron_compile.cache.holds import Holds
from neuron_compile.cache.layout import Layout
from neuron_compile.cache.locks import try_lock
from neuron_compile.cache.store import Store
from neuron_compile.cache.trust import Judge, check_trusted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from neuron_compile.cache.blobs import Blobs
    from neuron_compile.cache.collector import Collection
    from neuron_compile.cache.complaints import Complaints
    from neuron_compile.cache.entry import ActionEntry, OutputBlob
    from neuron_compile.cache.layout import Kind
    from neuron_compile.cache.policy import CachePolicy, Limits
    from neuron_compile.cache.signing import Signer

_T = TypeVar("_T")
_SPARE_SECONDS: Final = 2 * 3600.0
"""Where other hosts' holds cannot be seen: more than the hour within which a use leaves its mark.
"""


class LocalTier:
    """The store in `directory`. If `problem` is not empty, it is not used, for that reason."""

    def __init__(
        self,
        directory: Path,
        policy: CachePolicy,
        signer: Signer | None,
        locks_directory: Path,
        complaints: Complaints,
        clock: Callable[[], float],
    ) -> None:
        self.policy = policy
        self.complaints = complaints
        self.problem = ""
        self.clock = clock
        self.layout = Layout(directory)
        judge = None if policy.allow_shared else Judge()
        self.store = Store(self.layout, signer, judge, read_only=policy.read_only)
        self._check_directory()
        is_coherent = policy.store_locks
        if is_coherent is None:
            is_coherent = has_coherent_locks(directory)
        # Without a folder of the user's choice, locks in the store suffice where all can see them.
        own = [] if is_coherent and policy.locks_directory is None else [locks_directory]
        self.lock_directories = [*own, *([self.layout.locks] if is_coherent else [])]
        leases = self.layout.leases if is_coherent else locks_directory / "leases"
        self.holds = Holds(leases, is_recording=self.is_writable)
        spare_seconds = 0.0 if is_coherent else _SPARE_SECONDS
        self._bounds = Bounds(
            self.layout, self.holds, policy.limits, self.lock_directories, spare_seconds, clock
        )
        self.usage = self._bounds.usage
        self.recover()

    @property
    def is_writable(self) -> bool:
        """Whether publishing is worth a try."""
        return not self.problem and not self.policy.read_only

    def look_up(self, key: str) -> Found | None:
        """The entry of `key`, or `None`, whatever the reason. It is held while its blobs live."""
        if self.problem:
            return None
        hold = self.holds.take(key)
        found = None
        try:
            found = self._read(key)
        except CorruptEntryError as error:
            self.complaints.about("damage", f"{error}; set aside, to be produced again")
        except UntrustedDirectoryError as error:
            self._distrust(error)
        except OSError as error:
            self.complaints.about("disk", f"cannot be read: {error}")
        if found is None:
            self.holds.let_go(hold)
            return None
        return Found(found.entry, self.holds.blobs(found.blobs, hold))

    def has(self, key: str) -> bool:
        """Whether there is a sound entry of `key` and all of its blobs, whose bytes are not looked
        at.
        """
        if self.problem:
            return False
        try:
            read = functools.partial(self.store.read_action, key)
            stored = self._present(read, "action", key)
            return stored is not None and not self.store.lacks(stored.entry.outputs)
        except (OSError, CacheError):
            return False

    def publish(self, entry: ActionEntry, blobs: Blobs, data: bytes | None = None) -> Found | None:
        """Store an entry (encoded as `data`, if it was signed elsewhere); `None` if that failed."""
        if not self.is_writable or self._is_too_large(entry):
            return None
        try:
            make_directory(self.layout.root)
        except OSError as error:
            self.complaints.about("disk", f"cannot be written, going on without it: {error}")
            return None
        self._check_directory()  # between the look at it and now, another user may have made it
        if self.problem:
            return None
        hold = self.holds.take(entry.key)
        try:
            self._write(entry, blobs, data or self.store.encode(entry))
        except OSError as error:
            self.holds.let_go(hold)
            self.complaints.about("disk", f"cannot be written, going on without it: {error}")
            return None
        except UntrustedDirectoryError as error:
            self.holds.let_go(hold)
            self._distrust(error)
            return None
        return Found(entry, self.holds.blobs(blobs, hold))

    def blob(self, output: OutputBlob) -> bytes | None:
        """The verified bytes of one blob, if they are here."""
        if self.problem:
            return None
        try:
            return self.store.read_blob(output)
        except (OSError, CacheError):
            return None

    @property
    def collection_lock(self) -> Path:
        """Held by who removes files, or puts back what a killed one had moved out of sight."""
        return self._bounds.collection_lock

    def recover(self) -> bool:
        """Put back what a killed collection had moved out of sight; whether there was any."""
        from neuron_compile.cache import removal

        if not self.is_writable or not removal.stranded(self.layout):
            return False
        with contextlib.suppress(OSError):
            lock = try_lock(self.collection_lock)
            if lock is not None:
                try:
                    removal.recover(self.layout)
                finally:
                    lock.release()
                return True
        return False  # a living one is at it, and will put back what is held

    def collect(self, limits: Limits, seconds: float = float("inf")) -> Collection | None:
        """Evict down to `limits`: see `Bounds.collect`. Raises `OSError`."""
        return self._bounds.collect(limits, seconds)

    def _read(self, key: str) -> Found | None:
        stored = self._present(lambda: self.store.read_action(key), "action", key)
        if stored is None:
            return None
        entry = stored.entry
        blobs: dict[str, bytes] = {}
        for output in entry.outputs:
            read = functools.partial(self.store.read_blob, output)
            data = self._present(read, "blob", output.digest)
            if data is None:
                return None
            blobs[output.name] = data
        self.store.touch(entry, stored.last_used, self.clock())
        return Found(entry, blobs)

    def _present(self, read: Callable[[], _T | None], kind: Kind, digest: str) -> _T | None:
        found = read()
        if found is None and self.layout.aside(kind, digest).exists() and self.recover():
            return read()
        return found

    def _write(self, entry: ActionEntry, blobs: Blobs, data: bytes) -> None:
        now = self.clock()
        written = self.store.write_blobs(entry.outputs, blobs, now)
        self.store.write_action(data, entry.key, now)
        if self.store.lacks(entry.outputs):  # the store was cleared between the two
            written += self.store.write_blobs(entry.outputs, blobs, now)
        try:
            self._bounds.keep([len(data), *written], now)
        except OSError as error:  # it is published all the same
            self.complaints.about("disk", f"cannot be kept within its limits: {error}")

    def _is_too_large(self, entry: ActionEntry) -> bool:
        if not self._bounds.is_too_large(entry.size_bytes):
            return False
        largest = self.policy.limits.max_bytes
        self.complaints.about(
            "size", f"{entry.what} has {entry.size_bytes} bytes, too many for a cache of {largest}"
        )
        return True

    def _check_directory(self) -> None:
        if self.policy.allow_shared:
            return
        try:
            check_trusted(self.layout.root, *self.layout.folders)
        except UntrustedDirectoryError as error:
            self._distrust(error)
        except OSError as error:
            self.give_up(f"not used: {error}")

    def _distrust(self, error: UntrustedDirectoryError) -> None:
        self.give_up(
            f"not used, for a cached executable is code: {error}; "
            "mend that, or allow a shared cache"
        )

    def give_up(self, problem: str) -> None:
        """Use the store no more."""
        if not self.problem:
            self.problem = problem
            self.complaints.about("trust", problem)
