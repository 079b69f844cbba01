"""Messages between processes: a JSON header and named blobs, each with its length. No pickle.

    "NCW1" | header length (4 bytes, little-endian) | payload checksum (4 bytes) | header | blobs

The header is a JSON object; its entry `blobs` lists names and byte counts of what follows. The
checksum (CRC-32 of header and blobs) is there because native code in a worker could write to any
descriptor: what arrives damaged is refused, never used.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

MAGIC: Final = b"NCW1"
_PREFIX: Final = struct.Struct("<4sII")
_MAX_HEADER_BYTES: Final = 64 << 20
_MAX_PAYLOAD_BYTES: Final = 1 << 40


class FrameError(ValueError):
    """What was read is not a message."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message: what `kind` it is, its plain JSON `values`, its named `blobs`."""

    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)
    blobs: Mapping[str, bytes] = field(default_factory=dict)


def encode_frame(frame: Frame) -> Sequence[bytes]:
    """The parts to write one after the other; blobs are not copied."""
    header = json.dumps(
        {
            "kind": frame.kind,
            "values": dict(frame.values),
            "blobs": [[name, len(data)] for name, data in frame.blobs.items()],
        }
    ).encode()
    checksum = zlib.crc32(header)
    for data in frame.blobs.values():
        checksum = zlib.crc32(data, checksum)
    return [_PREFIX.pack(MAGIC, len(header), checksum), header, *frame.blobs.values()]


class FrameReader:
    """Puts messages together from bytes as they arrive."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> None:
        """Take bytes in."""
        self._received += data

    def next_frame(self) -> Frame | None:
        """The next complete message, or None. Raises `FrameError` as soon as it cannot be one."""
        received = self._received
        if not MAGIC.startswith(received[: len(MAGIC)]):
            raise FrameError(f"bytes that begin no message: {bytes(received[:40])!r}")
        if len(received) < _PREFIX.size:
            return None
        _, header_size, checksum = _PREFIX.unpack_from(received)
        if header_size > _MAX_HEADER_BYTES:
            raise FrameError(f"a header of {header_size} bytes")
        start = _PREFIX.size + header_size
        if len(received) < start:
            return None
        kind, values, sizes = _parse_header(bytes(received[_PREFIX.size : start]))
        end = start + sum(size for _, size in sizes)
        if len(received) < end:
            return None
        with memoryview(received) as view:
            if zlib.crc32(view[_PREFIX.size : end]) != checksum:
                raise FrameError("a message whose checksum is wrong")
            blobs = {}
            for name, size in sizes:
                blobs[name] = bytes(view[start : start + size])
                start += size
        del received[:end]
        return Frame(kind, values, blobs)


def _parse_header(data: bytes) -> tuple[str, dict[str, Any], list[tuple[str, int]]]:
    try:
        header = json.loads(data)
        kind, values = header["kind"], header["values"]
        sizes = [(name, size) for name, size in header["blobs"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FrameError(f"a header that cannot be read: {data[:40]!r}") from error
    sound = isinstance(kind, str) and isinstance(values, dict)
    sound = sound and all(isinstance(name, str) and type(size) is int for name, size in sizes)
    if not sound or any(size < 0 for _, size in sizes):
        raise FrameError(f"a header of another form: {data[:40]!r}")
    if sum(size for _, size in sizes) > _MAX_PAYLOAD_BYTES:
        raise FrameError("a message that is too large")
    return kind, values, sizes
