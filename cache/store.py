"""One directory of verified bytes. It knows neither locks nor limits nor what to do about a failure."""

from __future__ import annotations

import contextlib
import os
import uuid
from typing import TYPE_CHECKING, Final

from neuron_compile.cache import disk
from neuron_compile.cache.digests import digest_of
from neuron_compile.cache.entry import LARGEST_ENTRY, ActionEntry, OutputBlob, decode, encode
from neuron_compile.cache.errors import CorruptEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from neuron_compile.cache.layout import Kind, Layout
    from neuron_compile.cache.signing import Signer

_TOUCH_SECONDS: Final = 3600.0


class Store:
    """Actions and blobs in `layout`, signed and checked by `signer` if there is one.

    Every method may raise `OSError`. Reading raises `CorruptEntry` for bytes that are not what their
    name says, after setting them aside (unless `read_only`).
    """

    def __init__(self, layout: Layout, signer: Signer | None, *, read_only: bool) -> None:
        self.layout = layout
        self.signer = signer
        self.read_only = read_only

    def read_action(self, key: str, now: float) -> ActionEntry | None:
        """The entry of `key`, or `None` if there is none. Its time of use becomes `now`."""
        path = self.layout.path("action", key)
        inode = 0
        try:
            found = disk.read_whole(path, LARGEST_ENTRY)
            inode = found.inode
            entry = decode(found.data, key, self.signer)
        except FileNotFoundError:
            return None
        except CorruptEntry as error:
            self.set_aside("action", key, inode)
            raise CorruptEntry(f"action {key[:12]}: {error}") from error
        self._touch(path, found.used, now)
        return entry

    def read_blob(self, output: OutputBlob, now: float) -> bytes | None:
        """The bytes of `output`, or `None` if they are gone. Their time of use becomes `now`."""
        path = self.layout.path("blob", output.digest)
        inode = 0
        try:
            found = disk.read_whole(path, output.size)
            inode = found.inode
            check_blob(output, found.data)
        except FileNotFoundError:
            return None
        except CorruptEntry as error:
            self.set_aside("blob", output.digest, inode)
            raise CorruptEntry(f"blob {output.digest[:12]} ({output.name}): {error}") from error
        self._touch(path, found.used, now)
        return found.data

    def write_blobs(
        self, outputs: Iterable[OutputBlob], blobs: Mapping[str, bytes], now: float
    ) -> int:
        """Put the blobs in place; those that are there already, and whole, stay. Returns the bytes written."""
        written = 0
        for output in outputs:
            with contextlib.suppress(CorruptEntry):
                if self.read_blob(output, now) is not None:
                    continue
            data = blobs[output.name]
            path = self.layout.path("blob", output.digest)
            disk.write_whole(self.layout.temporary, path, data)
            os.utime(path, (now, now))
            written += len(data)
        return written

    def write_action(self, entry: ActionEntry, now: float) -> int:
        """Publish `entry`, whose blobs are in place. Returns the bytes written."""
        data = encode(entry, self.signer)
        path = self.layout.path("action", entry.key)
        disk.write_whole(self.layout.temporary, path, data)
        os.utime(path, (now, now))
        return len(data)

    def lacks(self, outputs: Iterable[OutputBlob]) -> bool:
        """Whether a blob of `outputs` is not there (its bytes are not looked at)."""
        return not all(self.layout.path("blob", output.digest).exists() for output in outputs)

    def set_aside(self, kind: Kind, digest: str, inode: int) -> None:
        """Move a damaged file to the quarantine.

        `inode` is that of the file that was read (0: whichever is there). If another process has put a
        good file in its place meanwhile, that one goes back.
        """
        if self.read_only:
            return
        path = self.layout.path(kind, digest)
        aside = self.layout.quarantine / f"{kind}-{digest}-{uuid.uuid4().hex[:8]}"
        with contextlib.suppress(OSError):
            self.layout.quarantine.mkdir(parents=True, exist_ok=True)
            path.rename(aside)
            if inode and aside.stat().st_ino != inode:
                _put_back(aside, path)

    def _touch(self, path: Path, used: float, now: float) -> None:
        # Hourly is fine enough to order uses, and a burst of readers writes once. A time in the future
        # (a clock that jumped) is mended, or the entry would be the youngest for ever.
        if self.read_only or abs(now - used) < _TOUCH_SECONDS:
            return
        with contextlib.suppress(OSError):
            os.utime(path, (now, now))


def check_blob(output: OutputBlob, data: bytes) -> None:
    """Raise `CorruptEntry` unless `data` has the size and digest of `output`."""
    if len(data) != output.size:
        raise CorruptEntry(f"{len(data)} bytes where {output.size} were expected")
    if digest_of(data) != output.digest:
        raise CorruptEntry("content does not match its digest")


def _put_back(aside: Path, path: Path) -> None:
    with contextlib.suppress(FileExistsError):
        path.hardlink_to(aside)
    aside.unlink()
