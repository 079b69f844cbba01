"""The remote tier: verified entries from a remote, and entries sent there."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from neuron_compile.cache.entry import LARGEST_ENTRY, decode
from neuron_compile.cache.errors import CorruptEntryError
from neuron_compile.cache.found import Found
from neuron_compile.cache.store import check_blob

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from neuron_compile.cache.blobs import Blobs
    from neuron_compile.cache.complaints import Complaints
    from neuron_compile.cache.entry import ActionEntry, OutputBlob
    from neuron_compile.cache.remote import Remote
    from neuron_compile.cache.signing import Signer


class RemoteTier:
    """Reads through `remote`; a blob that `here` gives (verified) is not transferred."""

    def __init__(
        self,
        remote: Remote,
        signer: Signer | None,
        here: Callable[[OutputBlob], bytes | None],
        complaints: Complaints,
    ) -> None:
        self.remote = remote
        self._signer = signer
        self._here = here
        self._complaints = complaints
        self._damaged: set[str] = set()

    def look_up(self, key: str) -> tuple[Found, bytes] | None:
        """The entry of `key` with the bytes it was encoded as, or `None`, whatever the reason."""
        data = self.remote.read("action", key)
        if data is None:
            return None
        try:
            entry = decode(data, key, self._signer)
            blobs = self._blobs(entry)
        except CorruptEntryError as error:
            self._damaged.add(key)
            self._complaints.about("damage", f"remote's action {key[:12]}: {error}; not used")
            return None
        return None if blobs is None else (Found(entry, blobs), data)

    def send(self, entry: ActionEntry, blobs: Blobs, data: bytes) -> bool:
        """Write the entry, its blobs first; whether that worked.

        Blobs that are there stay, unless damage was met in them or in the entry.
        """
        by_digest = {output.digest: blobs[output.name] for output in entry.outputs}
        missing = set(by_digest)
        if entry.key not in self._damaged:
            missing -= self.remote.present("blob", missing)
        is_sent = all(
            self.remote.write("blob", digest, by_digest[digest]) for digest in sorted(missing)
        ) and self.remote.write("action", entry.key, data)
        if is_sent:
            self._damaged.discard(entry.key)
        return is_sent

    def present(self, keys: Collection[str]) -> set[str]:
        """Those of `keys` that the remote has a sound entry for, and all of its blobs."""
        wanted: dict[str, set[str]] = {}
        for key, data in self.remote.read_all(
            "action", self.remote.present("action", keys), LARGEST_ENTRY
        ).items():
            with contextlib.suppress(CorruptEntryError):
                entry = decode(data, key, self._signer)
                wanted[key] = {output.digest for output in entry.outputs}
        there = self.remote.present("blob", set[str]().union(*wanted.values()))
        return {key for key, digests in wanted.items() if digests <= there}

    def _blobs(self, entry: ActionEntry) -> Blobs | None:
        blobs = {}
        for output in entry.outputs:
            data = self._here(output)
            if data is None:
                data = self.remote.read("blob", output.digest, output.size)
            if data is None:
                return None
            check_blob(output, data)
            blobs[output.name] = data
        return blobs
