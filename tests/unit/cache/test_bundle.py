"""Bundles: whole or refused, and never a way to a file."""

from __future__ import annotations

import io
import random
from typing import TYPE_CHECKING, Any

import pytest

from cache_actors import giving
from neuron_compile.cache import (
    ActionCache,
    CacheError,
    CachePolicy,
    CorruptEntryError,
    Outcome,
    bundle,
)
from neuron_compile.cache.digests import digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from cache_actors import MakeCache, MakeKey


def _filled(cache: ActionCache, key: MakeKey, count: int = 3) -> ActionCache:
    for number in range(count):
        cache.get_or_produce(key(number), giving(own=b"%d" % number * 300, same=b"s" * 9))
    return cache


def _elsewhere(tmp_path: Path, name: str = "elsewhere", **policy: Any) -> ActionCache:
    return ActionCache(
        tmp_path / name, policy=CachePolicy(locks_directory=tmp_path / "locks", **policy)
    )


def _bundle(cache: ActionCache, keys: list[str] | None = None) -> bytes:
    stream = io.BytesIO()
    cache.export_bundle(stream, keys)
    return stream.getvalue()


def test_a_store_goes_through_a_file_to_another_machine(
    make: MakeCache, key: MakeKey, tmp_path: Path
) -> None:
    path = tmp_path / "warm.bundle"
    assert _filled(make(), key).export_bundle(path) == 3
    other = _elsewhere(tmp_path)
    report = other.import_bundle(path)
    assert (report.entries, report.added) == (3, 3)
    for number in range(3):
        result = other.get_or_produce(key(number), dict)
        assert result.outcome is Outcome.HIT
        assert result.blobs["own"] == b"%d" % number * 300
    assert other.import_bundle(path).added == 0
    assert other.check().is_clean
    assert [item.name for item in tmp_path.iterdir() if "bundle" in item.name] == ["warm.bundle"]


def test_chosen_entries_only_are_exported_and_unknown_ones_refused(
    make: MakeCache, key: MakeKey, tmp_path: Path
) -> None:
    cache = _filled(make(), key)
    data = _bundle(cache, [key(1).digest])
    other = _elsewhere(tmp_path)
    assert other.import_bundle(io.BytesIO(data)).entries == 1
    assert other.get(key(1)) is not None
    assert other.get(key(0)) is None
    assert _bundle(cache, []) == _bundle(_elsewhere(tmp_path, "empty"))
    with pytest.raises(CacheError, match="no entry"):
        cache.export_bundle(tmp_path / "out", [key(77).digest])
    assert not (tmp_path / "out").exists()


def test_equal_stores_give_equal_bundles(make: MakeCache, key: MakeKey) -> None:
    cache = _filled(make(), key)
    assert _bundle(cache) == _bundle(cache)


def test_a_damaged_entry_is_left_out_of_a_whole_export(
    make: MakeCache, key: MakeKey, store: Path, tmp_path: Path
) -> None:
    cache = _filled(make(), key)
    path = store / "ac" / key(1).digest[:2] / key(1).digest
    path.write_bytes(b"damaged")
    other = _elsewhere(tmp_path)
    assert other.import_bundle(io.BytesIO(_bundle(cache))).entries == 2


def test_signatures_travel_with_the_entries(make: MakeCache, key: MakeKey, tmp_path: Path) -> None:
    key_file = tmp_path / "key"
    key_file.write_bytes(b"k" * 32)
    key_file.chmod(0o600)
    unsigned = _bundle(_filled(make(), key, 1))
    signed_store = _elsewhere(tmp_path, "signed", key_file=key_file)
    signed = _bundle(_filled(signed_store, key, 1))
    through_one_without_key = _elsewhere(tmp_path, "between")
    through_one_without_key.import_bundle(io.BytesIO(signed))
    other = _elsewhere(tmp_path, "other", key_file=key_file)
    other.import_bundle(io.BytesIO(_bundle(through_one_without_key)))
    assert other.get(key(0)) is not None
    with pytest.raises(CorruptEntryError, match="not signed"):
        _elsewhere(tmp_path, "third", key_file=key_file).import_bundle(io.BytesIO(unsigned))


def test_a_read_only_store_takes_no_bundle(make: MakeCache, key: MakeKey, tmp_path: Path) -> None:
    data = _bundle(_filled(make(), key))
    with pytest.raises(CacheError, match="read-only"):
        _elsewhere(tmp_path, read_only=True).import_bundle(io.BytesIO(data))


def _written(*records: tuple[str, str, bytes]) -> bytes:
    stream = io.BytesIO()
    bundle.write(stream, [bundle.Record(*record) for record in records])  # type: ignore[arg-type]
    return stream.getvalue()


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "not a bundle"),
        (b"neuron-compile-bundle 2\n", "not a bundle"),
        (b"neuron-compile-bundle 1\n", "cut short"),
        (_written(("blob", digest_of(b"x"), b"y")), "does not match its digest"),
        (_written(("blob", "../../../tmp/evil", b"y")), "malformed record"),
        (_written(("link", digest_of(b"x"), b"x")), "malformed record"),
        (_written() + b"more", "checksum"),
        (_written()[:-1], "cut short"),
        (_written()[:-3] + b"00\n", "checksum"),
        (b"neuron-compile-bundle 1\nblob " + b"0" * 64 + b" 99999999999999\n", "cut short"),
        (b"neuron-compile-bundle 1\nblob " + b"0" * 64 + b" -1\n", "malformed"),
        (b"neuron-compile-bundle 1\nblob " + b"0" * 64 + b" 1_0\n", "malformed"),
        (b"neuron-compile-bundle 1\nblob " + b"0" * 64 + " ٣\n".encode(), "malformed"),
        (b"neuron-compile-bundle 1\nblob " + b"0" * 64 + b" " + b"9" * 5000, "cut short"),
        (_written(("action", "0" * 64, b"no entry")), "no header"),
    ],
)
def test_each_malformed_bundle_is_refused_with_its_reason(
    tmp_path: Path, data: bytes, message: str
) -> None:
    cache = _elsewhere(tmp_path)
    with pytest.raises(CorruptEntryError, match=message):
        cache.import_bundle(io.BytesIO(data))
    assert cache.stats().entries == cache.stats().blobs == 0


def test_a_bundle_without_a_blob_of_its_entries_is_refused(
    make: MakeCache, key: MakeKey, tmp_path: Path
) -> None:
    index = bundle.index(io.BytesIO(data := _bundle(_filled(make(), key, 1))))
    (digest, place) = next(iter(index.actions.items()))
    lacking = _written(("action", digest, place.read(io.BytesIO(data))))
    with pytest.raises(CorruptEntryError, match="lacks a blob"):
        _elsewhere(tmp_path).import_bundle(io.BytesIO(lacking))


def test_thousands_of_mutations_import_all_or_nothing(
    make: MakeCache, key: MakeKey, tmp_path: Path
) -> None:
    whole = _bundle(_filled(make(), key, 2))
    cache = _elsewhere(tmp_path)
    choice = random.Random(4)
    for _ in range(5000):
        data = bytearray(whole)
        for _ in range(choice.randrange(1, 4)):
            start = choice.randrange(len(data))
            if choice.random() < 0.5:
                data[start] ^= 1 << choice.randrange(8)
            elif choice.random() < 0.5:
                del data[start : start + choice.randrange(1, 200)]
            else:
                data[start:start] = choice.randbytes(choice.randrange(1, 20))
        if bytes(data) == whole:
            continue
        with pytest.raises(CorruptEntryError):
            cache.import_bundle(io.BytesIO(bytes(data)))
    assert cache.stats().entries == cache.stats().blobs == 0
