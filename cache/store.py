"""One directory of verified bytes. It knows neither locks nor limits nor what to do about a
failure.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_compile.cache import disk
from neuron_compile.cache.digests import digest_of
from neuron_compile.cache.entry import LARGEST_ENTRY, ActionEntry, OutputBlob, decode, encode
from neuron_compile.cache.errors import CorruptEntryError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_compile.cache.blobs import Blobs
    from neuron_compile.cache.layout import Kind, Layout
    from neuron_compile.cache.signing import Signer
    from neuron_compile.cache.trust import Judge

_TOUCH_SECONDS: Final = 3600.0


class StoredAction(NamedTuple):
    """An entry, the bytes it came from, and when it was last used (seconds since the epoch)."""

    entry: ActionEntry
    data: bytes
    last_used: float


class Store:
    """Actions and blobs in `layout`, signed and checked by `signer` if there is one.

    Every method may raise `OSError`. Reading raises `CorruptEntryError` for bytes that are not what
    their name says, or that `judge` does not believe, after setting them aside (unless
    `read_only`); and `UntrustedDirectoryError` for a folder that others can write to.
    """

    def __init__(
        self, layout: Layout, signer: Signer | None, judge: Judge | None, *, read_only: bool
    ) -> None:
        self.layout = layout
        self.signer = signer
        self.read_only = read_only
        self._judge = judge

    def read_file(self, kind: Kind, digest: str, largest: int) -> disk.FileBytes:
        """A file as it is, of at most `largest` bytes. Nothing is set aside."""
        path = self.layout.path(kind, digest)
        if self._judge is None:
            return disk.read_whole(path, largest)
        self._judge.check_folder(path.parent)
        return disk.read_whole(path, largest, self._judge.check_file)

    def read_action(self, key: str) -> StoredAction | None:
        """The entry of `key`, or `None` if there is none."""
        inode = 0
        try:
            found = self.read_file("action", key, LARGEST_ENTRY)
            inode = found.inode
            return StoredAction(decode(found.data, key, self.signer), found.data, found.used)
        except FileNotFoundError:
            return None
        except CorruptEntryError as error:
            self.set_aside("action", key, inode)
            raise CorruptEntryError(f"action {key[:12]}: {error}") from error

    def read_blob(self, output: OutputBlob) -> bytes | None:
        """The bytes of `output`, or `None` if they are gone."""
        inode = 0
        try:
            found = self.read_file("blob", output.digest, output.size)
            inode = found.inode
            check_blob(output, found.data)
        except FileNotFoundError:
            return None
        except CorruptEntryError as error:
            self.set_aside("blob", output.digest, inode)
            raise CorruptEntryError(
                f"blob {output.digest[:12]} ({output.name}): {error}"
            ) from error
        return found.data

    def write_blobs(self, outputs: Iterable[OutputBlob], blobs: Blobs, now: float) -> list[int]:
        """Put the blobs in place; those there and whole stay. The sizes of those written."""
        written = []
        for output in outputs:
            data = None
            with contextlib.suppress(CorruptEntryError):
                data = self.read_blob(output)
            if data is None:
                data = blobs[output.name]
                path = self.layout.path("blob", output.digest)
                disk.write_whole(self.layout.temporary, path, data, now)
                written.append(len(data))
            else:
                self._used("blob", output.digest, now)
        return written

    def write_action(self, data: bytes, key: str, now: float) -> None:
        """Publish the encoded entry of `key`, whose blobs are in place."""
        disk.write_whole(self.layout.temporary, self.layout.path("action", key), data, now)

    def encode(self, entry: ActionEntry) -> bytes:
        """The bytes of `entry`, signed if the store signs."""
        return encode(entry, self.signer)

    def touch(self, entry: ActionEntry, last_used: float, now: float) -> None:
        """Make the entry's time of use `now`, if it is more than an hour off.

        Hourly is fine enough to order uses, and a burst of readers writes once. A time in the
        future (a clock that jumped) is mended, or the entry would be the youngest for ever. The
        blobs come first: no blob is ever less recently used than an action that needs it.
        """
        if self.read_only or abs(now - last_used) < _TOUCH_SECONDS:
            return
        for output in entry.outputs:
            self._used("blob", output.digest, now)
        self._used("action", entry.key, now)

    def lacks(self, outputs: Iterable[OutputBlob]) -> bool:
        """Whether a blob of `outputs` is not there, or not all of it (its bytes are not looked
        at).
        """
        try:
            return any(
                self.layout.path("blob", output.digest).stat().st_size != output.size
                for output in outputs
            )
        except FileNotFoundError:
            return True

    def set_aside(self, kind: Kind, digest: str, inode: int) -> None:
        """Move a damaged file to the quarantine.

        `inode` is that of the file that was read (0: whichever is there). If another process has
        put a good file in its place meanwhile, that one goes back.
        """
        if self.read_only:
            return
        path = self.layout.path(kind, digest)
        aside = self.layout.quarantine / f"{kind}-{digest}-{os.urandom(4).hex()}"
        with contextlib.suppress(OSError):
            disk.make_directory(self.layout.quarantine)
            path.rename(aside)
            if inode and aside.stat().st_ino != inode:
                disk.put_back(aside, path)
                return
            os.utime(aside)  # its time in the quarantine counts from now

    def _used(self, kind: Kind, digest: str, now: float) -> None:
        path = self.layout.path(kind, digest)
        with contextlib.suppress(OSError):
            # Never back: a blob may have been used meanwhile by another action, more recently.
            if not now <= path.stat().st_mtime < now + _TOUCH_SECONDS:
                os.utime(path, (now, now))


def check_blob(output: OutputBlob, data: bytes) -> None:
    """Raise `CorruptEntryError` unless `data` has the size and digest of `output`."""
    if len(data) != output.size:
        raise CorruptEntryError(f"{len(data)} bytes where {output.size} were expected")
    if digest_of(data) != output.digest:
        raise CorruptEntryError("content does not match its digest")
