"""The cache: look up, take a turn, look up again, produce, publish."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from neuron_compile.cache.complaints import Complaints
from neuron_compile.cache.counters import Counters, Event
from neuron_compile.cache.errors import CacheError, CacheMissError
from neuron_compile.cache.explain import MissExplanation, explain
from neuron_compile.cache.history import History, Miss
from neuron_compile.cache.local_tier import LocalTier
from neuron_compile.cache.location import locks_directory_for
from neuron_compile.cache.locks import Reentry
from neuron_compile.cache.policy import CachePolicy, Limits
from neuron_compile.cache.result import ActionResult, Outcome
from neuron_compile.cache.signing import signer_from
from neuron_compile.cache.supply import Produce, Supply, open_remote
from neuron_compile.cache.turns import Turns, Waiting, log_waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from neuron_compile.cache.audit import Audit
    from neuron_compile.cache.blobs import Blobs
    from neuron_compile.cache.bundle import ImportReport
    from neuron_compile.cache.collector import Collection
    from neuron_compile.cache.entry import ActionEntry
    from neuron_compile.cache.found import Found
    from neuron_compile.cache.key import ActionKey
    from neuron_compile.cache.report import CacheStats

_NEWEST_COMPARED = 2000


class ActionCache:
    """Actions and their blobs in `directory`, for any number of threads and processes.

    Whatever is wrong with the store, an action is carried out and its blobs returned; the trouble
    is warned of once (`CacheWarning`). Only what `produce` raises comes through, and it is not
    remembered. `clock` gives seconds since the epoch. `on_wait` is told, in words, what is being
    waited for.
    """

    def __init__(
        self,
        directory: Path,
        *,
        policy: CachePolicy | None = None,
        clock: Callable[[], float] = time.time,
        on_wait: Waiting = log_waiting,
    ) -> None:
        self.directory = directory.expanduser().absolute()
        self.policy = policy or CachePolicy()
        self.counters = Counters()
        self.complaints = Complaints(str(self.directory))
        self._reentry = Reentry()
        signer, flaw = signer_from(self.policy.key_file)
        locks_directory = self.policy.locks_directory or locks_directory_for(self.directory)
        self._local = LocalTier(
            self.directory, self.policy, signer, locks_directory, self.complaints, clock
        )
        remote = None if flaw else open_remote(self.policy, signer, self._local)
        self._supply = Supply(self._local, remote, self.counters)
        if flaw:
            self._local.give_up(flaw)
        self._history = History(self._local.layout.history)
        self._turns = Turns(self._local.lock_directories, self.policy.wait_seconds, on_wait)

    @property
    def problem(self) -> str:
        """Why the store is not used; empty if it is."""
        return self._local.problem

    def get_or_produce(self, key: ActionKey, produce: Produce, *, what: str = "") -> ActionResult:
        """The blobs of `key`: from the store, or from `produce`, which one caller at a time runs.

        `what` names the work in messages. While the result's `blobs` live, eviction spares the
        entry. Raises what `produce` raises; `TypeError` if it does not return named bytes;
        `CacheMissError` if the policy requires a hit and there is none.
        """
        name = what or f"{key.kind} {key.digest[:12]}"
        start = time.perf_counter()
        found = self._local.look_up(key.digest)
        if found is not None:
            return self._hit(Outcome.HIT, found, start)
        # Who may not produce waits for nobody: what another one is still making is a miss.
        takes_no_turn = self.policy.require_cache or not self._local.is_writable
        if takes_no_turn or key.digest in self._reentry.keys:
            return self._fetch_or_produce(key, produce, name, start)
        with self._turns.take(key.digest, name) as turn:
            for failure in turn.failures:
                self.complaints.about("disk", f"work may be done twice, cannot lock: {failure}")
            self.counters.add("wait_timeouts", int(turn.timed_out))
            found = self._local.look_up(key.digest)
            if found is not None:
                self.counters.add("waits")
                return self._hit(Outcome.HIT, found, start)
            self._reentry.keys.add(key.digest)
            try:
                return self._fetch_or_produce(key, produce, name, start)
            finally:
                self._reentry.keys.discard(key.digest)

    def get(self, key: ActionKey) -> Blobs | None:
        """The verified blobs of `key`, or `None`. While they live, eviction spares the entry."""
        result = self.recall(key.digest)
        return None if result is None else result.blobs

    def recall(self, digest: str) -> ActionResult | None:
        """As `get`, for who has kept no more of a key than its digest."""
        start = time.perf_counter()
        found = self._local.look_up(digest)
        if found is not None:
            return self._hit(Outcome.HIT, found, start)
        found = self._supply.fetch(digest)
        if found is None:
            self.counters.add("misses")
            return None
        return self._hit(Outcome.REMOTE_HIT, found, start)

    def discard(self, key: ActionKey, reason: str) -> None:
        """Set the entry of `key` aside: its bytes are sound and still no use, for `reason`.

        So that who cannot load an artifact gets another one, and does not try this one for ever.
        """
        if self._local.is_writable:
            self._local.store.set_aside("action", key.digest, inode=0)
        self.complaints.about("damage", f"action {key.digest[:12]}: {reason}; set aside")

    def present(self, keys: Iterable[ActionKey]) -> set[str]:
        """The digests of those `keys` that have a sound entry and all of its blobs, here or at the
        remote. The bytes of blobs are not looked at.
        """
        digests = {key.digest for key in keys}
        here = {digest for digest in digests if self._local.has(digest)}
        return here | self._supply.at_remote(digests - here)

    def explain_miss(self, key: ActionKey) -> MissExplanation:
        """The entry nearest to `key` (of the 2000 used last), and the parts in which it differs."""
        if self.problem:
            return MissExplanation(key.digest, key.kind, None, (), 0, self.problem)
        return explain(key.digest, key.kind, key.records, self.entries(_NEWEST_COMPARED))

    def entries(self, newest: int | None = None) -> Iterator[ActionEntry]:
        """The entries of the store, or the `newest` of them, the most recently used first."""
        from neuron_compile.cache import maintenance

        return maintenance.entries(self._local, newest)

    def find(self, prefix: str) -> list[ActionEntry]:
        """The sound entries whose key digest begins with `prefix`. `CacheError` if not used."""
        from neuron_compile.cache import maintenance

        return maintenance.find(self._local, prefix)

    def read(self, entry: ActionEntry) -> Blobs | None:
        """The verified blobs of an entry, or `None` if it is gone or damaged."""
        found = self._local.look_up(entry.key)
        return None if found is None else found.blobs

    def stats(self) -> CacheStats:
        """Settings, sizes and counts; looks at every file of the store."""
        from neuron_compile.cache import report

        return report.gather(self._local, self._history, self.counters.snapshot())

    def check(self, *, repair: bool = False) -> Audit:
        """Verify every byte of the store; with `repair` set damage aside and drop what is of no
        use.

        Raises `CacheError` if the store is not used, or to be repaired and either not writable or
        another process is evicting from it.
        """
        from neuron_compile.cache import audit, maintenance

        maintenance.require_usable(self._local, writable=repair)
        return audit.check(self._local, self._local.clock(), repair=repair)

    def evict(self, limits: Limits | None = None) -> Collection:
        """Bring the store within `limits` (the policy's by default), sparing what processes hold.

        Raises `CacheError` if the store is not to be written or another process is at it already,
        `OSError` if that fails.
        """
        from neuron_compile.cache import maintenance

        maintenance.require_usable(self._local, writable=True)
        done = self._local.collect(limits or self.policy.limits)
        if done is None:
            raise CacheError(f"another process is evicting from {self.directory} at the moment")
        self.counters.add("evicted", done.removed_entries)
        return done

    def clear(self) -> Collection:
        """Remove every entry, held or not; what is in memory stays valid. Raises as `evict`, and
        `OSError`.
        """
        from neuron_compile.cache import maintenance

        return maintenance.clear(self._local)

    def export_bundle(self, target: Path | BinaryIO, keys: Iterable[str] | None = None) -> int:
        """Write the entries with these key digests (all by default) into one file; returns their
        number.

        Raises `CacheError` if one of `keys` has no sound entry.
        """
        from neuron_compile.cache import maintenance

        return maintenance.export(self._local, keys, target)

    def import_bundle(self, source: Path | BinaryIO) -> ImportReport:
        """Publish the entries of a bundle: all of it, or nothing if any of it is unsound.

        Raises `CorruptEntryError` for a bundle that is damaged or not signed as the policy demands.
        """
        from neuron_compile.cache import maintenance

        return maintenance.import_from(self._local, source)

    def _fetch_or_produce(
        self, key: ActionKey, produce: Produce, what: str, start: float
    ) -> ActionResult:
        found = self._supply.fetch(key.digest)
        if found is not None:
            return self._hit(Outcome.REMOTE_HIT, found, start)
        self.counters.add("misses")
        if self._local.is_writable:
            now = self._local.clock()
            self._history.add(Miss(now, key.digest, key.kind, what, key.records))
        if self.policy.require_cache:
            raise CacheMissError(
                f"{what} is not in the cache {self.directory}, which was required to have it:\n"
                f"{self.explain_miss(key)}"
            )
        return self._supply.produce(key, produce, what, start)

    def _hit(self, outcome: Outcome, found: Found, start: float) -> ActionResult:
        lookup_seconds = time.perf_counter() - start
        result = ActionResult(found.blobs, outcome, found.entry.produce_seconds, lookup_seconds)
        event: Event = "hits" if outcome is Outcome.HIT else "remote_hits"
        self.counters.add(event, seconds_saved=result.seconds_saved)
        return result
