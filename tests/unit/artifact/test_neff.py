"""The container: exact bytes, nothing mistaken, nothing damaged accepted."""

from __future__ import annotations

import hashlib
import random
import tracemalloc
import uuid

import pytest

from neuron_compile.artifact.neff import HOST_EXECUTABLE, pack_neff, unpack_neff
from neuron_compile.errors import ArtifactError
from stand_ins import documented_neff

DEVICE_FILES = {
    "neff.json": b'{"version": 2}',
    "kelf-0.json": b"{}",
    "sg00/def.json": b'{"var": {}}',
    "sg00/pe.bin": bytes(range(256)) * 20,
}


def host_neff(size: int = 3000) -> bytes:
    return pack_neff({HOST_EXECUTABLE: b"x" * size}, name="m", target="host", compressed=False)


def device_neff(*, compressed: bool) -> bytes:
    return pack_neff(DEVICE_FILES, name="model", target="trn2", compressed=compressed)


def resealed(neff: bytes, **fields: int) -> bytes:
    """The file with some header fields changed and the digest right again."""
    header = documented_neff.Header.from_buffer_copy(neff)
    for name, value in fields.items():
        setattr(header, name, value)
    return bytes(header) + neff[1024:]


@pytest.mark.parametrize("compressed", [True, False])
def test_independent_parser_reads_every_field(compressed: bool) -> None:
    neff = device_neff(compressed=compressed)
    fields, files = documented_neff.read(neff)
    assert files == DEVICE_FILES
    assert fields["pkg_version"] == (2 if compressed else 1)
    assert fields["header_size"] == 1024
    assert fields["data_size"] == len(neff) - 1024
    assert fields["name"].rstrip(b"\0") == b"model"
    assert fields["neff_version_major"] == 2
    assert fields["lnc_size"] == 2
    assert fields["pad"] == bytes(468)


@pytest.mark.parametrize("is_gzipped", [True, False])
def test_reads_what_a_compiler_packs(is_gzipped: bool) -> None:
    data = documented_neff.write(
        DEVICE_FILES, name="net", lnc=2, is_gzipped=is_gzipped, uuid=uuid.uuid4().bytes
    )
    neff = unpack_neff(data)
    assert dict(neff.members) == DEVICE_FILES
    assert not neff.is_host
    assert neff.header.name == "net"
    assert neff.header.neff_build_version == "2.0.0 stand-in"
    assert neff.header.lnc_size == 2


def test_equal_members_give_equal_bytes_in_any_order() -> None:
    turned = dict(reversed(DEVICE_FILES.items()))
    for compressed in (True, False):
        again = pack_neff(turned, name="model", target="trn2", compressed=compressed)
        assert again == device_neff(compressed=compressed)
    assert len({host_neff(10)[:1024], host_neff(11)[:1024]}) == 2


def test_host_neff_round_trip_and_marks() -> None:
    neff = unpack_neff(host_neff())
    assert neff.is_host
    assert neff.members[HOST_EXECUTABLE] == b"x" * 3000
    assert b'"target":"host"' in neff.members["neff.json"]
    assert neff.header.neff_version_major > 2, "a device's runtime must refuse it"
    assert not unpack_neff(device_neff(compressed=True)).is_host


@pytest.mark.parametrize("member", ["neff.json", "elsewhere"])
def test_device_neff_cannot_pose_as_host(member: str) -> None:
    with pytest.raises(ArtifactError, match=r"not for the caller|no member host/executable"):
        pack_neff({member: b"x"}, target="host", compressed=False)
    with pytest.raises(ArtifactError, match="build version of a host"):
        pack_neff({}, target="trn2", compressed=True, build_version="neuron-compile host 1")
    with pytest.raises(ArtifactError, match="in one place"):
        pack_neff(
            {"neff.json": b'{"format":"neuron-compile host"}'}, target="trn2", compressed=True
        )
    with pytest.raises(ArtifactError):
        unpack_neff(resealed(device_neff(compressed=False), neff_version_major=0x54534F48))


def corruptions(neff: bytes, count: int) -> list[bytes]:
    """Flips, cuts, insertions, removals, zeroed stretches and swaps, half of them in the header."""
    rng = random.Random(7)
    damaged: list[bytes] = []
    while len(damaged) < count:
        reach = 1024 if rng.random() < 0.5 else len(neff)
        at, size = rng.randrange(reach), rng.randrange(1, 200)
        kind = rng.choice(["flip", "cut", "insert", "remove", "zero", "noise", "swap"])
        piece = {
            "flip": bytes([neff[at] ^ 1 << rng.randrange(8)]) + neff[at + 1 :],
            "cut": b"",
            "insert": rng.randbytes(size) + neff[at:],
            "remove": neff[at + size :],
            "zero": bytes(min(size, len(neff) - at)) + neff[at + size :],
            "noise": rng.randbytes(min(size, len(neff) - at)) + neff[at + size :],
            "swap": neff[at:][::-1],
        }[kind]
        if neff[:at] + piece != neff:
            damaged.append(neff[:at] + piece)
    return damaged


@pytest.mark.parametrize("kind", ["host", "gzipped", "plain"])
def test_a_thousand_corruptions_are_all_detected(kind: str) -> None:
    neff = host_neff() if kind == "host" else device_neff(compressed=kind == "gzipped")
    for damaged in corruptions(neff, 1000):
        with pytest.raises(ArtifactError):
            unpack_neff(damaged)


@pytest.mark.parametrize("kind", ["host", "gzipped"])
def test_every_single_flipped_header_byte_is_detected(kind: str) -> None:
    neff = host_neff() if kind == "host" else device_neff(compressed=True)
    for at in range(1024):
        damaged = neff[:at] + bytes([neff[at] ^ 0x20]) + neff[at + 1 :]
        with pytest.raises(ArtifactError):
            unpack_neff(damaged)


def test_every_form_of_a_compilers_uuid_is_taken() -> None:
    """How they are made is not documented: random, of some version, or a digest."""
    for seed in range(50):
        own = random.Random(seed).randbytes(16)
        for version in (own[6], 0x40, 0x80):
            own = own[:6] + bytes([version]) + own[7:8] + b"\x80" + own[9:]
            neff = documented_neff.write(
                {"neff.json": b"{}"}, name="n", lnc=1, is_gzipped=False, uuid=own
            )
            assert unpack_neff(neff).header.uuid == own


def test_foreign_neff_with_wrong_digest_is_refused() -> None:
    data = bytearray(
        documented_neff.write(DEVICE_FILES, name="n", lnc=1, is_gzipped=False, uuid=bytes(16))
    )
    data[5000] ^= 1
    with pytest.raises(ArtifactError, match="digest"):
        unpack_neff(bytes(data))


@pytest.mark.parametrize(
    "fields",
    [{"pkg_version": 3}, {"header_size": 512}, {"data_size": 1 << 60}, {"pkg_version": 2}],
    ids=str,
)
def test_impossible_header_is_refused(fields: dict[str, int]) -> None:
    neff = documented_neff.write(DEVICE_FILES, name="n", lnc=1, is_gzipped=False, uuid=bytes(16))
    with pytest.raises(ArtifactError):
        unpack_neff(resealed(neff, **fields))


def test_text_that_does_not_fit_is_refused() -> None:
    for name in ("x" * 256, "naïve", "a\0b"):
        with pytest.raises(ArtifactError, match="name"):
            pack_neff(DEVICE_FILES, name=name, target="trn2", compressed=True)
    with pytest.raises(ArtifactError, match="no target"):
        pack_neff(DEVICE_FILES, target="trn9", compressed=True)
    with pytest.raises(ArtifactError, match="out of range"):
        pack_neff(DEVICE_FILES, target="trn2", compressed=True, feature_bits=1 << 64)


def test_reading_copies_the_data_twice_and_digests_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a warm start spends on a NEFF: one copy to look into, one of the member."""
    size = 1 << 20
    neff = host_neff(size)
    digested: list[int] = []
    real = hashlib.sha256

    def sha256(data: bytes = b"") -> object:
        digested.append(len(data))
        return real(data)

    monkeypatch.setattr(hashlib, "sha256", sha256)
    tracemalloc.start()
    try:
        unpacked = unpack_neff(neff)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(unpacked.members[HOST_EXECUTABLE]) == size
    assert peak < 2.1 * size
    assert sorted(digested) == [1024, len(neff) - 1024]


def test_digest_follows_the_package_version() -> None:
    for compressed, algorithm in ((True, hashlib.md5), (False, hashlib.sha256)):
        neff = device_neff(compressed=compressed)
        assert unpack_neff(neff).header.hash == algorithm(neff[1024:]).digest()
