"""The 1024-byte header of a NEFF file, field by field.

The layout is the documented one (little-endian, no magic number). AWS's own KLR project names the
two digests: package version 1 carries SHA-256 of the data, version 2 carries MD5 in the first half
of the field. This file knows bytes and fields only, neither the archive nor what the code means.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, fields, replace
from typing import Final

from neuron_compile.errors import ArtifactError

HEADER_SIZE: Final = 1024
_LAYOUT: Final = struct.Struct("<5Q128sI32s16s256sI64sQI468s")
_UUID_OFFSET: Final = struct.calcsize("<5Q128sI32s")
_UUID_SIZE: Final = 16
# The last six bytes of UUIDs made here. No layout of a compiler's UUID is documented, so a version
# number in a few bits would be found in some of theirs too.
_SEAL_MARK: Final = b"neuron"

SHA256_PACKAGE: Final = 1
MD5_PACKAGE: Final = 2


@dataclass(frozen=True, slots=True)
class NeffHeader:
    """Every documented field, in the order of the file. Text fields are ASCII without their NULs.

    `hash` is the digest of the data as stored: 32 bytes for package version 1, 16 for version 2.
    """

    pkg_version: int
    header_size: int
    data_size: int
    neff_version_major: int
    neff_version_minor: int
    neff_build_version: str
    num_tpb: int
    hash: bytes
    uuid: bytes
    name: str
    requested_tpb_count: int
    tpb_per_node: bytes
    feature_bits: int
    lnc_size: int

    def to_bytes(self) -> bytes:
        """The header as it stands in the file. Raises `ArtifactError` if a field does not fit."""
        values = [getattr(self, field.name) for field in fields(self)]
        values[5] = _encode_text(self.neff_build_version, 128, "neff_build_version")
        values[9] = _encode_text(self.name, 256, "name")
        try:
            return _LAYOUT.pack(*values, b"")
        except struct.error as error:
            raise ArtifactError(f"a field of the NEFF header is out of range: {error}") from error

    @classmethod
    def from_bytes(cls, data: bytes) -> NeffHeader:
        """Read the first 1024 bytes of a file. Raises `ArtifactError` if they are not a header."""
        if len(data) < HEADER_SIZE:
            raise ArtifactError(
                f"not a NEFF: {len(data)} bytes are fewer than the {HEADER_SIZE} of its header"
            )
        values = list(_LAYOUT.unpack_from(data))
        if any(values.pop()):
            raise ArtifactError("not a NEFF: the padding of its header is not zero")
        if values[0] not in (SHA256_PACKAGE, MD5_PACKAGE):
            raise ArtifactError(f"not a NEFF: package version {values[0]} is neither 1 nor 2")
        if values[1] != HEADER_SIZE:
            raise ArtifactError(f"not a NEFF: header size {values[1]} is not {HEADER_SIZE}")
        values[5] = _decode_text(values[5], "neff_build_version")
        values[7] = values[7][: digest_size(values[0])]
        values[9] = _decode_text(values[9], "name")
        return cls(*values)


def digest_size(pkg_version: int) -> int:
    """Bytes of the header's digest that count."""
    return 32 if pkg_version == SHA256_PACKAGE else 16


def data_digest(pkg_version: int, data: bytes | memoryview) -> bytes:
    """The digest of `data` that a header of this package version carries."""
    if pkg_version == SHA256_PACKAGE:
        return hashlib.sha256(data).digest()
    return hashlib.md5(data, usedforsecurity=False).digest()


def seal(header: NeffHeader) -> NeffHeader:
    """The header with a UUID (version 8 of RFC 9562) derived from all of its other bytes: 74 bits
    of their digest and a mark of ours.

    Nothing else in the format covers the header, so this is what makes a damaged one detectable,
    and it makes equal contents equal bytes, which a random UUID would not.
    """
    blank = replace(header, uuid=bytes(_UUID_SIZE)).to_bytes()
    return replace(header, uuid=_uuid8(hashlib.sha256(blank).digest()))


def claims_seal(header: NeffHeader) -> bool:
    """Whether the UUID says that `seal` made it."""
    return header.uuid.endswith(_SEAL_MARK)


def seal_holds(raw: bytes) -> bool:
    """Whether the 1024 bytes `raw` are those that `seal` saw, apart from the UUID."""
    end = _UUID_OFFSET + _UUID_SIZE
    blank = raw[:_UUID_OFFSET] + bytes(_UUID_SIZE) + raw[end:HEADER_SIZE]
    return _uuid8(hashlib.sha256(blank).digest()) == raw[_UUID_OFFSET:end]


def _uuid8(digest: bytes) -> bytes:
    uuid = bytearray(digest[: _UUID_SIZE - len(_SEAL_MARK)] + _SEAL_MARK)
    uuid[6] = uuid[6] & 0x0F | 0x80
    uuid[8] = uuid[8] & 0x3F | 0x80
    return bytes(uuid)


def _encode_text(text: str, size: int, field: str) -> bytes:
    if not text.isascii() or "\0" in text or len(text) >= size:
        raise ArtifactError(
            f"{field} of a NEFF header takes up to {size - 1} ASCII characters, not {text!r}"
        )
    return text.encode("ascii")


def _decode_text(raw: bytes, field: str) -> str:
    text, _, rest = raw.partition(b"\0")
    if any(rest) or not text.isascii():
        raise ArtifactError(f"not a NEFF: {field} of its header is not NUL-padded ASCII text")
    return text.decode("ascii")
