"""The cache: look up, take a turn, look up again, produce, publish."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from neuron_compile.cache.complaints import Complaints
from neuron_compile.cache.counters import Counters
from neuron_compile.cache.digests import digest_of
from neuron_compile.cache.entry import ActionEntry, OutputBlob, is_blob_name
from neuron_compile.cache.errors import CacheError, CacheMissError, CorruptEntry
from neuron_compile.cache.explain import MissExplanation, explain
from neuron_compile.cache.layout import Layout
from neuron_compile.cache.location import default_locks_directory
from neuron_compile.cache.locks import Reentry
from neuron_compile.cache.policy import CachePolicy
from neuron_compile.cache.result import ActionResult, Outcome
from neuron_compile.cache.signing import Signer
from neuron_compile.cache.store import Store
from neuron_compile.cache.trust import check_trusted
from neuron_compile.cache.turns import Turns, Waiting

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_compile.cache.key import ActionKey

Produce = Callable[[], Mapping[str, bytes]]
_NEWEST_COMPARED = 2000


class _Found(NamedTuple):
    entry: ActionEntry
    blobs: Mapping[str, bytes]


def _log_waiting(message: str) -> None:
    import logging

    logging.getLogger("neuron_compile.cache").warning("%s", message)


class ActionCache:
    """Actions and their blobs in `directory`, for any number of threads and processes.

    Whatever is wrong with the store, an action is carried out and its blobs returned; the trouble is
    warned of once (`CacheWarning`). Only what `produce` raises comes through, and it is not remembered.
    `clock` gives seconds since the epoch. `on_wait` is told, in words, when another process is waited for.
    """

    def __init__(
        self,
        directory: Path,
        *,
        policy: CachePolicy | None = None,
        clock: Callable[[], float] = time.time,
        on_wait: Waiting = _log_waiting,
    ) -> None:
        self.directory = directory.expanduser().absolute()
        self.policy = policy or CachePolicy()
        self.counters = Counters()
        self.complaints = Complaints(str(self.directory))
        self._clock = clock
        self._reentry = Reentry()
        self.problem = ""
        signer = self._signer()
        layout = Layout(self.directory)
        self._store = Store(layout, signer, read_only=self.policy.read_only)
        store_id = digest_of(str(self.directory.resolve()).encode())[:16]
        locks_directory = self.policy.locks_directory or default_locks_directory()
        lock_directories = [locks_directory / store_id, self.directory / "locks"]
        self._turns = Turns(lock_directories, self.policy.wait_seconds, on_wait, clock=clock)
        self._check_directory()

    def get_or_produce(self, key: ActionKey, produce: Produce, *, what: str = "") -> ActionResult:
        """The blobs of `key`: from the store, or from `produce`, which one caller at a time runs.

        `what` names the work in messages. Raises what `produce` raises; `TypeError` if it does not
        return named bytes; `CacheMissError` if the policy requires a hit and there is none.
        """
        name = what or f"{key.kind} {key.digest[:12]}"
        start = time.perf_counter()
        found = self._look_up(key.digest)
        if found is not None:
            return self._hit(found, start)
        if self.policy.require_cache:
            raise CacheMissError(
                f"{name} is not in the cache {self.directory}: {self.explain_miss(key)}"
            )
        self.counters.misses += 1
        if self.problem or self.policy.read_only or key.digest in self._reentry.keys:
            return self._produce(key, produce, name, start, store=False)
        with self._turns.take(key.digest, name) as turn:
            for failure in turn.failures:
                self.complaints.about("disk", f"cannot lock, so work may be done twice: {failure}")
            self.counters.wait_timeouts += turn.timed_out
            found = self._look_up(key.digest)
            if found is not None:
                self.counters.waits += 1
                return self._hit(found, start)
            self._reentry.keys.add(key.digest)
            try:
                return self._produce(key, produce, name, start, store=True)
            finally:
                self._reentry.keys.discard(key.digest)

    def get(self, key: ActionKey) -> Mapping[str, bytes] | None:
        """The verified blobs of `key`, or `None`."""
        found = self._look_up(key.digest)
        return None if found is None else found.blobs

    def explain_miss(self, key: ActionKey) -> MissExplanation:
        """The stored entry nearest to `key` and the parts in which it differs (the newest 2000 are compared)."""
        if self.problem:
            return MissExplanation(key.digest, key.kind, None, (), 0, note=self.problem)
        return explain(key.digest, key.kind, key.records, self._newest_entries())

    def _signer(self) -> Signer | None:
        if self.policy.key_file is None:
            return None
        try:
            return Signer.from_file(self.policy.key_file)
        except CacheError as error:
            self._give_up(str(error))
            return None

    def _check_directory(self) -> None:
        if self.policy.allow_shared:
            return
        try:
            check_trusted(self.directory)
        except CacheError as error:
            self._give_up(
                f"not used, for a cached executable is code: {error}. Mend its permissions or allow it."
            )
        except OSError as error:
            self._give_up(f"not used: {error}")

    def _give_up(self, problem: str) -> None:
        self.problem = self.problem or problem
        self.complaints.about("trust", problem)

    def _look_up(self, digest: str) -> _Found | None:
        if self.problem:
            return None
        try:
            return self._read(digest)
        except CorruptEntry as error:
            self.complaints.about("damage", f"{error}; set aside and produced again")
        except OSError as error:
            self.complaints.about("disk", f"cannot be read: {error}")
        return None

    def _read(self, digest: str) -> _Found | None:
        now = self._clock()
        entry = self._store.read_action(digest, now)
        if entry is None:
            return None
        blobs: dict[str, bytes] = {}
        for output in entry.outputs:
            data = self._store.read_blob(output, now)
            if data is None:
                return None
            blobs[output.name] = data
        return _Found(entry, MappingProxyType(blobs))

    def _hit(self, found: _Found, start: float) -> ActionResult:
        lookup_seconds = time.perf_counter() - start
        result = ActionResult(found.blobs, Outcome.HIT, found.entry.produce_seconds, lookup_seconds)
        self.counters.hits += 1
        self.counters.seconds_saved += result.seconds_saved
        return result

    def _produce(
        self, key: ActionKey, produce: Produce, what: str, start: float, *, store: bool
    ) -> ActionResult:
        before = time.perf_counter()
        blobs = _checked_blobs(produce(), what)
        seconds = time.perf_counter() - before
        self.counters.produced += 1
        is_stored = store and self._publish(key, blobs, what, seconds)
        self.counters.stored += is_stored
        self.counters.uncached += not is_stored
        outcome = Outcome.PRODUCED if is_stored else Outcome.UNCACHED
        return ActionResult(blobs, outcome, seconds, before - start)

    def _publish(
        self, key: ActionKey, blobs: Mapping[str, bytes], what: str, seconds: float
    ) -> bool:
        now = self._clock()
        outputs = tuple(
            OutputBlob(name, digest_of(data), len(data)) for name, data in blobs.items()
        )
        entry = ActionEntry(
            key.digest, key.kind, key.records, outputs, max(0.0, float(now)), seconds, what
        )
        try:
            self._store.write_blobs(outputs, blobs, now)
            self._store.write_action(entry, now)
            if self._store.lacks(outputs):  # someone cleared the store between the two
                self._store.write_blobs(outputs, blobs, now)
        except OSError as error:
            self.complaints.about("disk", f"cannot be written, going on without it: {error}")
            return False
        return True

    def _newest_entries(self) -> Iterator[ActionEntry]:
        files = sorted(self._store.layout.files("action"), key=lambda file: -file.used)
        for file in files[:_NEWEST_COMPARED]:
            try:
                entry = self._store.read_action(file.digest, file.used)
            except (OSError, CorruptEntry):
                continue
            if entry is not None:
                yield entry


def _checked_blobs(blobs: Mapping[str, bytes], what: str) -> Mapping[str, bytes]:
    if not isinstance(blobs, Mapping) or not blobs:
        raise TypeError(
            f"producing {what} gave {type(blobs).__name__} without blobs, not a mapping of bytes"
        )
    for name, data in blobs.items():
        if not is_blob_name(name) or not isinstance(data, bytes):
            raise TypeError(
                f"producing {what} gave a bad blob {name!r} of type {type(data).__name__}"
            )
    return MappingProxyType({name: blobs[name] for name in sorted(blobs)})
