"""The NEFF container: a documented header and an archive of named members.

A NEFF for a device comes from neuronx-cc; one for the host is made here and holds what XLA:CPU
needs. Three independent marks keep the two apart, and all must agree: the build version, the major
version (above what any Neuron runtime accepts, so that a device refuses it too) and `neff.json`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from neuron_compile.artifact.neff_archive import pack_archive, unpack_archive
from neuron_compile.artifact.neff_header import (
    HEADER_SIZE,
    MD5_PACKAGE,
    SHA256_PACKAGE,
    NeffHeader,
    claims_seal,
    data_digest,
    seal,
    seal_holds,
)
from neuron_compile.errors import ArtifactError
from neuron_compile.target import TARGETS

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST_EXECUTABLE: Final = "host/executable.xla"
DESCRIPTION: Final = "neff.json"
HOST_FORMAT: Final = "neuron-compile host"
HOST_FORMAT_VERSION: Final = 2
# libnrt refuses major versions above 2; so a host NEFF never runs on a device by mistake.
HOST_MAJOR: Final = 0x54534F48
DEVICE_MAJOR: Final = 2

_BUILD_PREFIX: Final = "neuron-compile"
_HOST_BUILD: Final = f"{HOST_FORMAT} {HOST_FORMAT_VERSION}"
_HOST_DESCRIPTION: Final = (
    json.dumps(
        {"format": HOST_FORMAT, "target": "host", "version": HOST_FORMAT_VERSION},
        sort_keys=True,
        separators=(",", ":"),
    ).encode()
    + b"\n"
)

# A gzip stream can inflate a thousandfold. Machine code does not.
_MAX_INFLATION: Final = 200
_MIN_LIMIT_BYTES: Final = 256 << 20
_MAX_LIMIT_BYTES: Final = 16 << 30


@dataclass(frozen=True, slots=True)
class Neff:
    """An unpacked NEFF: its header, and its members by path (`kelf-0.json`, `sg00/...`)."""

    header: NeffHeader
    members: Mapping[str, bytes]

    @property
    def is_host(self) -> bool:
        """Whether it runs on XLA:CPU; otherwise it is for a Neuron device."""
        return self.header.neff_version_major == HOST_MAJOR


def pack_neff(
    members: Mapping[str, bytes],
    *,
    name: str = "",
    target: str,
    compressed: bool,
    build_version: str | None = None,
    num_tpb: int = 1,
    feature_bits: int = 0,
) -> bytes:
    """The bytes of a NEFF; equal arguments give equal bytes.

    `target` is a name of `TARGETS`. For the host, `neff.json` is written here and must not be among
    the members, and the build version cannot be chosen. Compressed data is a gzipped tar under MD5
    (package version 2), other data a plain tar under SHA-256 (version 1). Raises `ArtifactError`
    where the container cannot express what is asked.
    """
    if target not in TARGETS:
        raise ArtifactError(f"there is no target called {target!r}")
    is_host = target == "host"
    if is_host and (build_version is not None or DESCRIPTION in members):
        raise ArtifactError("the build version and neff.json of a host NEFF are not for the caller")
    if build_version is not None and build_version.startswith(HOST_FORMAT):
        raise ArtifactError(f"a NEFF for {target} cannot carry the build version of a host NEFF")
    if is_host:
        members = {**members, DESCRIPTION: _HOST_DESCRIPTION}
    data = pack_archive(members, compressed=compressed)
    pkg_version = MD5_PACKAGE if compressed else SHA256_PACKAGE
    header = NeffHeader(
        pkg_version=pkg_version,
        header_size=HEADER_SIZE,
        data_size=len(data),
        neff_version_major=HOST_MAJOR if is_host else DEVICE_MAJOR,
        neff_version_minor=0,
        neff_build_version=_HOST_BUILD if is_host else build_version or f"{_BUILD_PREFIX} {target}",
        num_tpb=num_tpb,
        hash=data_digest(pkg_version, data),
        uuid=b"",
        name=name,
        requested_tpb_count=num_tpb,
        tpb_per_node=bytes(64),
        feature_bits=feature_bits,
        lnc_size=TARGETS[target].logical_cores,
    )
    neff = Neff(seal(header), members)
    _require_marks_agree(neff)
    return neff.header.to_bytes() + data


def unpack_neff(data: bytes) -> Neff:
    """Read a NEFF of any target, ours or the compiler's, after its digest has been checked.

    Raises `ArtifactError` on every damage: a size or digest that does not match, an archive that
    cannot be read or is unsafe, and, for what `pack_neff` wrote, any changed byte of the header.
    """
    header = verify_neff(data)
    limit = min(_MAX_LIMIT_BYTES, _MIN_LIMIT_BYTES + _MAX_INFLATION * len(data))
    members = unpack_archive(memoryview(data)[HEADER_SIZE:], limit_bytes=limit)
    neff = Neff(header, MappingProxyType(members))
    _require_marks_agree(neff)
    return neff


def verify_neff(data: bytes) -> NeffHeader:
    """The header of a NEFF whose size, digest and seal are right; the archive is not unpacked.

    Enough before a NEFF of gigabytes goes to a runtime, which unpacks it itself. Raises
    `ArtifactError`.
    """
    header = NeffHeader.from_bytes(data)
    if len(data) != HEADER_SIZE + header.data_size:
        raise ArtifactError(
            f"the NEFF has {len(data)} bytes and its header says {HEADER_SIZE + header.data_size}",
            why="it was cut off while it was written or copied, or something was appended",
        )
    if data_digest(header.pkg_version, memoryview(data)[HEADER_SIZE:]) != header.hash:
        raise ArtifactError("the NEFF's data does not have the digest that its header says")
    is_ours = claims_seal(header) or header.neff_build_version.startswith(_BUILD_PREFIX)
    if is_ours and not seal_holds(data):
        raise ArtifactError("the NEFF's header was changed after it was written")
    return header


def is_for_host(header: NeffHeader) -> bool:
    """Whether any mark of the header says that the NEFF is for the host."""
    return header.neff_version_major == HOST_MAJOR or header.neff_build_version.startswith(
        HOST_FORMAT
    )


def _require_marks_agree(neff: Neff) -> None:
    description = neff.members.get(DESCRIPTION, b"")
    marks = {
        neff.is_host,
        neff.header.neff_build_version.startswith(HOST_FORMAT),
        HOST_FORMAT.encode() in description,
    }
    if len(marks) > 1:
        raise ArtifactError("the NEFF says in one place that it is for the host, elsewhere not")
    if not neff.is_host:
        return
    if neff.header.neff_build_version != _HOST_BUILD or description != _HOST_DESCRIPTION:
        raise ArtifactError(
            f"the host NEFF has format {neff.header.neff_build_version!r}; this release reads "
            f"{_HOST_BUILD!r}"
        )
    if HOST_EXECUTABLE not in neff.members:
        raise ArtifactError(f"the host NEFF has no member {HOST_EXECUTABLE}")
