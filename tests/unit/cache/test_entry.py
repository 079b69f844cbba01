"""Entries: one encoding, proven to answer its key, and one error for everything else."""

from __future__ import annotations

import hashlib
import json
import random

import pytest

from neuron_compile.cache import ActionKey, CorruptEntryError
from neuron_compile.cache.digests import digest_of
from neuron_compile.cache.entry import ActionEntry, OutputBlob, decode, encode, is_blob_name
from neuron_compile.cache.signing import Signer

_KEY = ActionKey("lower", (("ir", b"m" * 1000), ("target", b"host"), ("tool x", b"1.2")))
_OUTPUTS = (
    OutputBlob("manifest.json", digest_of(b"{}"), 2),
    OutputBlob("program", digest_of(b"bytes"), 5),
)
_ENTRY = ActionEntry(_KEY.digest, _KEY.kind, _KEY.records, _OUTPUTS, 1.5e9, 12.25, "GPT2 forward")


def _resealed(body: bytes) -> bytes:
    return f"neuron-compile-action 1 {digest_of(body)} -\n".encode() + body


def _changed(**changes: object) -> bytes:
    body = json.loads(encode(_ENTRY, None).partition(b"\n")[2])
    body.update(changes)
    return _resealed(json.dumps(body, sort_keys=True, separators=(",", ":")).encode())


def test_decoding_gives_back_what_was_encoded() -> None:
    assert decode(encode(_ENTRY, None), _KEY.digest, None) == _ENTRY


def test_equal_entries_have_equal_bytes() -> None:
    assert encode(_ENTRY, None) == encode(decode(encode(_ENTRY, None), _KEY.digest, None), None)


def test_every_single_flipped_bit_is_noticed() -> None:
    data = encode(_ENTRY, None)
    for position in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[position] ^= 1 << bit
            with pytest.raises(CorruptEntryError):
                decode(bytes(flipped), _KEY.digest, None)


def test_every_truncation_is_noticed() -> None:
    data = encode(_ENTRY, None)
    for length in range(len(data)):
        with pytest.raises(CorruptEntryError):
            decode(data[:length], _KEY.digest, None)
    with pytest.raises(CorruptEntryError):
        decode(data + b" ", _KEY.digest, None)


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "empty"),
        (b"\x80\x04cos\nsystem\n", "no header"),
        (b"neuron-compile-action 2 " + b"0" * 64 + b" -\n{}", "format version 2"),
        (_resealed(b"{}"), "missing or unknown"),
        (_resealed(b"[1"), "malformed"),
        (_resealed(b"[" * 100_000), "malformed"),
        (_resealed(b'"\\ud800"'), "malformed"),
        (_resealed(b"9" * 5000), "malformed"),
        (_changed(key="0" * 64), "another key"),
        (_changed(kind="other"), "another key"),
        (_changed(outputs=[["../../etc/passwd", "0" * 64, 1]]), "bad output"),
        (_changed(outputs=[["name", "../../../etc/passwd", 1]]), "bad output"),
        (_changed(outputs=[["name", "0" * 64, -1]]), "bad output"),
        (_changed(outputs=[["name", "0" * 64, True]]), "bad output"),
        (_changed(outputs=[["name", "0" * 64, 1e3]]), "bad output"),
        (_changed(outputs=[["name", "0" * 64, 10**400]]), "malformed"),
        (_changed(outputs=[["b", "0" * 64, 1], ["a", "0" * 64, 1]]), "out of order"),
        (_changed(outputs=[["a", "0" * 64, 1], ["a", "0" * 64, 1]]), "repeated"),
        (_changed(outputs={"a": 1}), "list"),
        (_changed(outputs=["abc"]), "row"),
        (_changed(parts=[["ir", 1, "0" * 64, "x"]]), "does not match"),
        (_changed(parts=[["ir", 1, "0" * 64, ["x"]]]), "short text"),
        (_changed(parts=[[None, 1, "0" * 64, None]]), "bad part"),
        (_changed(created="now"), "not a time"),
        (_changed(created=float("nan")), "not a time"),
        (_changed(produce_seconds=-1.0), "not a time"),
        (_changed(what=7), "not text"),
        (_changed(extra=1), "unknown"),
        (_resealed(encode(_ENTRY, None).partition(b"\n")[2] + b"\n"), "canonical"),
        (b"x" * (5 << 20), "too large"),
    ],
)
def test_each_malformed_entry_is_refused_with_its_reason(data: bytes, message: str) -> None:
    with pytest.raises(CorruptEntryError, match=message):
        decode(data, _KEY.digest, None)


def test_thousands_of_mutations_raise_nothing_but_the_one_error() -> None:
    choice = random.Random(20)
    whole = encode(_ENTRY, None)
    body = whole.partition(b"\n")[2]
    refused = 0
    for round_ in range(5000):
        data = bytearray(body if round_ % 2 else whole)
        for _ in range(choice.randrange(1, 8)):
            start = choice.randrange(len(data))
            how = choice.randrange(4)
            if how == 0:
                data[start] = choice.randrange(256)
            elif how == 1:
                del data[start : start + choice.randrange(1, 30)]
            elif how == 2:
                data[start:start] = choice.randbytes(choice.randrange(1, 10))
            else:
                data[start:start] = data[: choice.randrange(1, 40)]
            if not data:
                break
        mutated = _resealed(bytes(data)) if round_ % 2 else bytes(data)
        try:
            entry = decode(mutated, _KEY.digest, None)
        except CorruptEntryError:
            refused += 1
        else:
            # Metadata that no key covers may be changed by who can recompute the checksum.
            assert (entry.key, entry.parts) == (_ENTRY.key, _ENTRY.parts)
    assert refused > 4500


def test_a_signer_accepts_its_own_signature_only() -> None:
    mine, other = Signer(b"m" * 32), Signer(b"o" * 32)
    signed = encode(_ENTRY, mine)
    assert decode(signed, _KEY.digest, mine) == _ENTRY
    assert decode(signed, _KEY.digest, None) == _ENTRY
    for data in (encode(_ENTRY, None), encode(_ENTRY, other)):
        with pytest.raises(CorruptEntryError, match="not signed"):
            decode(data, _KEY.digest, mine)


def test_a_signature_covers_the_blobs() -> None:
    signer = Signer(b"m" * 32)
    signature = encode(_ENTRY, signer).split(b"\n")[0].split(b" ")[3]
    forged = _changed(outputs=[["program", hashlib.sha256(b"evil").hexdigest(), 4]])
    header, _, body = forged.partition(b"\n")
    with pytest.raises(CorruptEntryError, match="not signed"):
        decode(header[:-1] + signature + b"\n" + body, _KEY.digest, signer)


@pytest.mark.parametrize("name", ["a", "program.neff", "manifest.json", "A-b_c.1"])
def test_plain_file_names_name_blobs(name: str) -> None:
    assert is_blob_name(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".hidden", "a/b", "a\\b", "a b", "ä", "a\n", "x" * 129, 3]
)
def test_paths_and_odd_names_do_not(name: object) -> None:
    assert not is_blob_name(name)
