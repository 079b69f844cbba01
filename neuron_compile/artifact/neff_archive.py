"""The archive inside a NEFF: named members to a tar stream, plain or gzipped, and back.

Reading trusts nothing: no links, no devices, no name that could leave a folder, no duplicate, no
member or inflated stream beyond a limit. This file does not know the header.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from typing import TYPE_CHECKING, Final

from neuron_compile.errors import ArtifactError

if TYPE_CHECKING:
    from collections.abc import Mapping

GZIP_MAGIC: Final = b"\x1f\x8b"
_BLOCK: Final = tarfile.BLOCKSIZE
_MAX_MEMBERS: Final = 65536

# What tarfile lets escape on malformed input besides its own errors.
_TAR_FAILURES: Final = (
    tarfile.TarError,
    EOFError,
    IndexError,
    OSError,
    OverflowError,
    RecursionError,
    ValueError,
)


def pack_archive(members: Mapping[str, bytes], *, compressed: bool) -> bytes:
    """The members as one tar stream, sorted, without times and owners: equal for equal members."""
    parts = []
    for name in sorted(members):
        require_member_name(name)
        entry = tarfile.TarInfo(name)
        entry.size = len(members[name])
        parts += [entry.tobuf(tarfile.PAX_FORMAT), members[name], bytes(-entry.size % _BLOCK)]
    stream = b"".join([*parts, bytes(2 * _BLOCK)])
    if not compressed:
        return stream
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(stream) + packer.flush()


def unpack_archive(data: bytes | memoryview, *, limit_bytes: int) -> dict[str, bytes]:
    """The regular files of a tar stream by name. Raises `ArtifactError` on anything unexpected."""
    if bytes(data[:2]) == GZIP_MAGIC:
        data = _inflate(data, limit_bytes)
    members: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for count, entry in enumerate(archive):
                if count >= _MAX_MEMBERS:
                    raise ArtifactError(f"the NEFF's archive has over {_MAX_MEMBERS} members")
                name = entry.name.removeprefix("./")
                if entry.isdir():
                    if name != ".":
                        require_member_name(name)
                    continue
                require_member_name(name)
                if not entry.isreg() or entry.issparse():
                    raise ArtifactError(f"the NEFF's archive member {name!r} is not a plain file")
                if name in members:
                    raise ArtifactError(f"the NEFF's archive has two members called {name!r}")
                if entry.offset_data + entry.size > len(data):
                    raise ArtifactError(f"the NEFF's archive ends within member {name!r}")
                members[name] = bytes(data[entry.offset_data : entry.offset_data + entry.size])
            tail = data[archive.offset :]
    except _TAR_FAILURES as error:
        raise ArtifactError(f"the NEFF's archive cannot be read: {error}") from error
    # tarfile takes a damaged header for the end of the archive, and would hide what follows.
    if len(tail) < _BLOCK or any(tail):
        raise ArtifactError("the NEFF's archive is cut off or continues with something else")
    return members


def require_member_name(name: str) -> None:
    """Raise `ArtifactError` unless `name` is a relative path that stays where it is unpacked."""
    parts = name.split("/")
    unsafe = any(part in {"", ".", ".."} for part in parts) or len(name) > 1024
    if unsafe or any(mark in name for mark in ("\\", "\0", ":")) or not name.isprintable():
        raise ArtifactError(f"the NEFF's archive has a member with the unsafe name {name[:80]!r}")


def _inflate(data: bytes | memoryview, limit_bytes: int) -> bytes:
    unpacker = zlib.decompressobj(31)
    try:
        stream = unpacker.decompress(data, limit_bytes)
    except zlib.error as error:
        raise ArtifactError(f"the NEFF's archive cannot be inflated: {error}") from error
    if not unpacker.eof and unpacker.unconsumed_tail:
        raise ArtifactError(f"the NEFF's archive inflates to more than {limit_bytes} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise ArtifactError("the NEFF's archive is cut off or followed by other data")
    return stream
