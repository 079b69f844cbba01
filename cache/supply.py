"""Where blobs come from that the directory does not have: the remote, or the work itself."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from neuron_compile.cache.blobs import Blobs
from neuron_compile.cache.digests import digest_of
from neuron_compile.cache.entry import ActionEntry, OutputBlob, checked_blobs
from neuron_compile.cache.errors import UntrustedDirectoryError
from neuron_compile.cache.location import directory_of_remote
from neuron_compile.cache.result import ActionResult, Outcome
from neuron_compile.cache.trust import check_trusted

if TYPE_CHECKING:
    from neuron_compile.cache.counters import Counters
    from neuron_compile.cache.found import Found
    from neuron_compile.cache.key import ActionKey
    from neuron_compile.cache.local_tier import LocalTier
    from neuron_compile.cache.policy import CachePolicy
    from neuron_compile.cache.remote_tier import RemoteTier
    from neuron_compile.cache.signing import Signer

Produce = Callable[[], Blobs]


class Supply:
    """Gets blobs and publishes them: in `local`, and what was produced at `remote` too."""

    def __init__(self, local: LocalTier, remote: RemoteTier | None, counters: Counters) -> None:
        self._local = local
        self._remote = remote
        self._counters = counters

    def fetch(self, digest: str) -> Found | None:
        """What the remote has for a key with this digest, verified."""
        if self._remote is None:
            return None
        fetched = self._remote.look_up(digest)
        if fetched is None:
            return None
        found, data = fetched
        return self._local.publish(found.entry, found.blobs, data) or found

    def at_remote(self, digests: set[str]) -> set[str]:
        """Those of the keys' `digests` that the remote has, without looking at bytes of blobs."""
        return set() if self._remote is None else self._remote.present(digests)

    def produce(self, key: ActionKey, produce: Produce, what: str, start: float) -> ActionResult:
        """Carry out the action, called `what` in messages, whose look-up began at `start` (seconds
        of `time.perf_counter`). Raises what `produce` raises, and `TypeError` if it does not return
        named bytes.
        """
        before = time.perf_counter()
        blobs = checked_blobs(produce(), what)
        seconds = time.perf_counter() - before
        self._counters.add("produced")
        outputs = tuple(
            OutputBlob(name, digest_of(data), len(data)) for name, data in blobs.items()
        )
        created = max(0.0, float(self._local.clock()))
        entry = ActionEntry(key.digest, key.kind, key.records, outputs, created, seconds, what)
        stored = self._local.publish(entry, blobs)
        is_sent = self._send(entry, blobs)
        self._counters.add("stored" if stored or is_sent else "uncached")
        outcome = Outcome.PRODUCED if stored or is_sent else Outcome.UNCACHED
        return ActionResult(stored.blobs if stored else blobs, outcome, seconds, before - start)

    def _send(self, entry: ActionEntry, blobs: Blobs) -> bool:
        if self._remote is None or not self._remote.remote.policy.write_back:
            return False
        is_sent = self._remote.send(entry, blobs, self._local.store.encode(entry))
        self._counters.add("sent", int(is_sent))
        return is_sent


def open_remote(policy: CachePolicy, signer: Signer | None, local: LocalTier) -> RemoteTier | None:
    """The remote that `policy` names; `None`, and a complaint, if it is a folder not to be
    trusted.
    """
    if policy.remote is None:
        return None
    directory = directory_of_remote(policy.remote.url)
    if directory is not None and signer is None and not policy.allow_shared:
        try:
            check_trusted(directory)
        except (OSError, UntrustedDirectoryError) as error:
            what = f"remote not used: {error}; mend that, sign, or allow a shared cache"
            local.complaints.about("trust", what)
            return None
    # Most caches have none; fsspec is loaded with it.
    from neuron_compile.cache.remote import Remote
    from neuron_compile.cache.remote_tier import RemoteTier

    remote = Remote(policy.remote, local.complaints)
    return RemoteTier(remote, signer, local.blob, local.complaints)
