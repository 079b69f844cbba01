"""The archive: hostile streams with right digests, which the container alone cannot tell."""

from __future__ import annotations

import gzip
import io
import random
import tarfile

import pytest

from neuron_compile.artifact.neff_archive import pack_archive, unpack_archive
from neuron_compile.errors import ArtifactError

LIMIT = 1 << 20


def tar_of(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "a/../../b", "a//b", "..", "C:x", "a\\b", "a\nb", "a/./b", "x" * 2000],
)
def test_unsafe_name_is_refused_both_ways(name: str) -> None:
    with pytest.raises(ArtifactError, match="unsafe name"):
        pack_archive({name: b""}, compressed=False)
    with pytest.raises(ArtifactError, match="unsafe name"):
        unpack_archive(tar_of((tarfile.TarInfo(name), b"x")), limit_bytes=LIMIT)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE]
)
def test_only_plain_files_are_members(kind: bytes) -> None:
    entry = tarfile.TarInfo("link")
    entry.type, entry.linkname = kind, "/etc/passwd"
    with pytest.raises(ArtifactError, match="not a plain file"):
        unpack_archive(tar_of((entry, b"")), limit_bytes=LIMIT)


def test_second_member_of_one_name_is_refused() -> None:
    data = tar_of((tarfile.TarInfo("a"), b"1"), (tarfile.TarInfo("./a"), b"2"))
    with pytest.raises(ArtifactError, match="two members"):
        unpack_archive(data, limit_bytes=LIMIT)


def test_inflation_beyond_the_limit_is_refused_without_inflating() -> None:
    bomb = gzip.compress(bytes(64 << 20))
    with pytest.raises(ArtifactError, match="inflates to more than"):
        unpack_archive(bomb, limit_bytes=LIMIT)


@pytest.mark.parametrize("cut", [1024, 1100, 1536, 2000])
def test_archive_cut_off_is_refused(cut: int) -> None:
    data = pack_archive({"a": b"1" * 700, "b": b"2"}, compressed=False)
    with pytest.raises(ArtifactError):
        unpack_archive(data[:-cut], limit_bytes=LIMIT)


def test_member_hidden_behind_a_damaged_header_is_not_dropped() -> None:
    data = bytearray(pack_archive({"a": b"1", "b": b"2"}, compressed=False))
    data[1024] ^= 0x40
    with pytest.raises(ArtifactError, match="continues with something else"):
        unpack_archive(bytes(data), limit_bytes=LIMIT)


def test_data_after_the_gzip_stream_is_refused() -> None:
    with pytest.raises(ArtifactError, match="followed by other data"):
        unpack_archive(pack_archive({"a": b"1"}, compressed=True) + b"x", limit_bytes=LIMIT)


def test_random_damage_gives_only_artifact_errors() -> None:
    rng = random.Random(3)
    plain = pack_archive({"a": b"1" * 700, "sg00/" + "n" * 150: b"2"}, compressed=False)
    refused = 0
    for _ in range(1000):
        data = bytearray(plain)
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            unpack_archive(bytes(data), limit_bytes=LIMIT)
        except ArtifactError:
            refused += 1
    # Damage of the members' own bytes is the digest's to find.
    assert 500 < refused < 1000


def test_long_and_unicode_names_survive() -> None:
    members = {"sg00/" + "n" * 300: b"1", "größe.bin": b"", "empty": b""}
    for compressed in (True, False):
        packed = pack_archive(members, compressed=compressed)
        assert unpack_archive(packed, limit_bytes=LIMIT) == members
