"""The remote tier: verified entries from a remote, and entries sent there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_compile.cache.entry import decode
from neuron_compile.cache.errors import CorruptEntryError
from neuron_compile.cache.found import Found
from neuron_compile.cache.store import check_blob

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

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

    def look_up(self, key: str) -> tuple[Found, bytes] | None:
        """The entry of `key` with the bytes it was encoded as, or `None`, whatever the reason."""
        data = self.remote.read("action", key)
        if data is None:
            return None
        try:
            entry = decode(data, key, self._signer)
            blobs = self._blobs(entry)
        except CorruptEntryError as error:
            self._complaints.about("damage", f"remote's action {key[:12]}: {error}; not used")
            return None
        return None if blobs is None else (Found(entry, blobs), data)

    def send(self, entry: ActionEntry, blobs: Mapping[str, bytes], data: bytes) -> bool:
        """Write the entry, its blobs first; whether that worked."""
        by_digest = {output.digest: blobs[output.name] for output in entry.outputs}
        missing = by_digest.keys() - self.remote.present("blob", by_digest.keys())
        return all(
            self.remote.write("blob", digest, by_digest[digest]) for digest in sorted(missing)
        ) and self.remote.write("action", entry.key, data)

    def present(self, keys: Collection[str]) -> set[str]:
        """Those of `keys` that the remote has an entry for."""
        return self.remote.present("action", keys)

    def _blobs(self, entry: ActionEntry) -> Mapping[str, bytes] | None:
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
