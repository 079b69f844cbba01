"""A NEFF reader and writer made from the documentation alone.

It shares no code with the package, so that the two can be tested against each other. The header is
the documented C struct, declared field by field.
"""

from __future__ import annotations

import ctypes
import gzip
import hashlib
import io
import tarfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Header(ctypes.LittleEndianStructure):
    """`neff_header_t`, packed, without its trailing data."""

    _pack_ = 1
    _fields_ = (
        ("pkg_version", ctypes.c_uint64),
        ("header_size", ctypes.c_uint64),
        ("data_size", ctypes.c_uint64),
        ("neff_version_major", ctypes.c_uint64),
        ("neff_version_minor", ctypes.c_uint64),
        ("neff_build_version", ctypes.c_uint8 * 128),
        ("num_tpb", ctypes.c_uint32),
        ("hash", ctypes.c_uint8 * 32),
        ("uuid", ctypes.c_uint8 * 16),
        ("name", ctypes.c_uint8 * 256),
        ("requested_tpb_count", ctypes.c_uint32),
        ("tpb_per_node", ctypes.c_uint8 * 64),
        ("feature_bits", ctypes.c_uint64),
        ("lnc_size", ctypes.c_uint32),
        ("pad", ctypes.c_uint8 * 468),
    )


def read(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The header's fields by name (byte fields as bytes) and the archive's files."""
    header = Header.from_buffer_copy(data)
    fields: dict[str, Any] = {}
    for name, *_ in Header._fields_:
        value = getattr(header, name)
        fields[name] = value if isinstance(value, int) else bytes(value)
    body = data[header.header_size : header.header_size + header.data_size]
    digest = {1: hashlib.sha256, 2: hashlib.md5}[header.pkg_version](body).digest()
    assert fields["hash"].startswith(digest)
    if body[:2] == b"\x1f\x8b":
        body = gzip.decompress(body)
    files = {}
    with tarfile.open(fileobj=io.BytesIO(body)) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                files[member.name.removeprefix("./")] = content.read()
    return fields, files


def write(
    files: Mapping[str, bytes], *, name: str, lnc: int, is_gzipped: bool, uuid: bytes
) -> bytes:
    """A NEFF as a compiler packs one: `./` before the names, folders as members, times and all."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        folders = {path.rpartition("/")[0] for path in files} - {""}
        for folder in sorted(folders):
            entry = tarfile.TarInfo(f"./{folder}")
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, 1_700_000_000.25
            archive.addfile(entry)
        for path, content in files.items():
            entry = tarfile.TarInfo(f"./{path}")
            entry.size, entry.mtime = len(content), 1_700_000_000.25
            archive.addfile(entry, io.BytesIO(content))
    body = stream.getvalue()
    if is_gzipped:
        body = gzip.compress(body, mtime=1_700_000_000)
    header = Header(
        pkg_version=2 if is_gzipped else 1,
        header_size=1024,
        data_size=len(body),
        neff_version_major=2,
        neff_version_minor=0,
        num_tpb=1,
        requested_tpb_count=1,
        lnc_size=lnc,
    )
    digest = hashlib.md5(body).digest() + b"0" * 16 if is_gzipped else hashlib.sha256(body).digest()
    for field, value in {
        "neff_build_version": b"2.0.0 stand-in",
        "hash": digest,
        "uuid": uuid,
        "name": name.encode(),
    }.items():
        ctypes.memmove(getattr(header, field), value, len(value))
    return bytes(header) + body
