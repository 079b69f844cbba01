"""A set of entries in one file, to carry from machine to machine.

    neuron-compile-bundle 1
    blob <sha256> <length>        followed by that many bytes
    action <key> <length>         likewise
    end <sha256 of everything before this line>

Not an archive format: there are no file names in it, so nothing can be unpacked to a wrong place.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, NamedTuple, cast

from neuron_compile.cache.digests import digest_of, is_digest
from neuron_compile.cache.errors import CorruptEntryError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_compile.cache.layout import Kind

_MAGIC: Final = b"neuron-compile-bundle 1\n"
_LONGEST_LINE: Final = 128


@dataclass(frozen=True, slots=True)
class ImportReport:
    """How many entries a bundle held, and how many of them the store did not have before."""

    entries: int
    added: int


class Place(NamedTuple):
    """A stretch of a stream."""

    offset: int
    length: int

    def read(self, stream: BinaryIO) -> bytes:
        """The bytes there."""
        stream.seek(self.offset)
        return stream.read(self.length)


class Index(NamedTuple):
    """The places of a bundle's actions by key, and of its blobs by digest."""

    actions: dict[str, Place]
    blobs: dict[str, Place]


class Record(NamedTuple):
    """An encoded action entry or a blob, under its key or digest."""

    kind: Kind
    digest: str
    data: bytes


def write(stream: BinaryIO, records: Iterable[Record]) -> None:
    """Write a bundle of `records`. Equal records in equal order give equal bytes."""
    total = hashlib.sha256(_MAGIC)
    stream.write(_MAGIC)
    for record in records:
        header = f"{record.kind} {record.digest} {len(record.data)}\n".encode()
        for data in (header, record.data):
            total.update(data)
            stream.write(data)
    stream.write(f"end {total.hexdigest()}\n".encode())


def index(stream: BinaryIO) -> Index:
    """Where everything in the seekable `stream` is, after all of it has been checked.

    Raises `CorruptEntryError`, and nothing else but `OSError`, unless it is a whole bundle in which
    every blob matches its digest.
    """
    end = stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise CorruptEntryError("not a bundle of this version")
    found = Index({}, {})
    total = hashlib.sha256(_MAGIC)
    while True:
        line = stream.readline(_LONGEST_LINE)
        kind, digest, length = _parse(line)
        if kind == "end":
            break
        place = Place(stream.tell(), length)
        data = place.read(stream) if place.offset + length <= end else b""
        if len(data) != length:
            raise CorruptEntryError("bundle is cut short")
        if kind == "blob" and digest_of(data) != digest:
            raise CorruptEntryError(f"blob {digest[:12]} of the bundle does not match its digest")
        total.update(line)
        total.update(data)
        (found.blobs if kind == "blob" else found.actions)[digest] = place
    if digest != total.hexdigest() or stream.tell() != end:
        raise CorruptEntryError("bundle does not match its checksum")
    return found


def _parse(line: bytes) -> tuple[Literal["action", "blob", "end"], str, int]:
    words = line.decode("ascii", errors="replace").split(" ")
    if not line.endswith(b"\n"):
        raise CorruptEntryError("bundle is cut short")
    words[-1] = words[-1][:-1]
    if len(words) == 2 and words[0] == "end" and is_digest(words[1]):
        return "end", words[1], 0
    is_record = len(words) == 3 and words[0] in ("action", "blob") and is_digest(words[1])
    # Plain ASCII digits, few enough to be a size: int() would take more, in more scripts.
    if not is_record or not words[2].isascii() or not words[2].isdigit() or len(words[2]) > 15:
        raise CorruptEntryError("bundle has a malformed record")
    return cast("Kind", words[0]), words[1], int(words[2])
