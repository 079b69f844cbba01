"""Keys: what makes two of them differ, and what does not."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from neuron_compile.cache import ActionKey, KeyPart

if TYPE_CHECKING:
    from pathlib import Path

_PARTS = (("ir", b"module"), ("target", b"host"), ("flag --lnc", b"2"))


def test_the_digest_of_a_key_is_the_same_for_ever() -> None:
    # Golden: a change here makes every cache in the world cold, and needs a new format version.
    key = ActionKey("lower", _PARTS)
    assert key.digest == "145a8d7c2de11e369fef17512b6d53404d77425b03f5cf2bcf546bf09662ae63"


@pytest.mark.parametrize(
    "kind, parts",
    [
        ("codegen", _PARTS),
        ("lower", (("ir", b"modulE"), ("target", b"host"), ("flag --lnc", b"2"))),
        ("lower", (("IR", b"module"), ("target", b"host"), ("flag --lnc", b"2"))),
        ("lower", (("ir", b"module"), ("target", b"host"))),
        ("lower", (*_PARTS, ("empty", b""))),
        ("lower", (("ir", b"host"), ("target", b"module"), ("flag --lnc", b"2"))),
        ("lower", (("ir", b"module "), ("target", b"host"), ("flag --lnc", b"2"))),
        ("lower", (("ir", b"modul"), ("target", b"ehost"), ("flag --lnc", b"2"))),
        ("lower", (("irt", b"module"), ("arget", b"host"), ("flag --lnc", b"2"))),
        ("lower", (("ir", b"module\0target\0host"), ("flag --lnc", b"2"))),
        ("lower", ()),
    ],
)
def test_any_difference_in_kind_names_or_values_makes_another_key(kind: str, parts: Any) -> None:
    assert ActionKey(kind, parts).digest != ActionKey("lower", _PARTS).digest


def test_all_ways_to_cut_one_stream_of_bytes_make_different_keys() -> None:
    stream = "abcdef"
    digests = set()
    for first, second in itertools.combinations(range(1, len(stream)), 2):
        name, value, rest = stream[:first], stream[first:second], stream[second:]
        digests.add(ActionKey("test", ((name, value.encode()), ("~", rest.encode()))).digest)
        digests.add(ActionKey("test", ((name, value.encode() + b"~"), ("~", rest.encode()))).digest)
    assert len(digests) == 2 * 10


def test_the_order_of_the_parts_does_not_count() -> None:
    keys = {ActionKey("lower", parts).digest for parts in itertools.permutations(_PARTS)}
    assert len(keys) == 1
    assert len({ActionKey("lower", parts) for parts in itertools.permutations(_PARTS)}) == 1


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_other_processes_folders_and_hash_seeds_give_the_same_key(
    tmp_path: Path, seed: str
) -> None:
    program = (
        "from neuron_compile.cache import ActionKey;"
        f"print(ActionKey('lower', {_PARTS!r}).digest, end='')"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed, "LANG": "C", "TZ": "Asia/Tokyo"}
    printed = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=True,
    ).stdout
    assert printed.decode() == ActionKey("lower", _PARTS).digest


@pytest.mark.parametrize(
    "kind, parts, message",
    [
        ("Lower", (), "lower-case word"),
        ("", (), "lower-case word"),
        ("a/b", (), "lower-case word"),
        ("lower", (("", b""),), "printable ASCII"),
        ("lower", (("tab\t", b""),), "printable ASCII"),
        ("lower", (("name ", b""),), "printable ASCII"),
        ("lower", (("ä", b""),), "printable ASCII"),
        ("lower", (("n" * 200, b""),), "printable ASCII"),
        ("lower", (("ir", b"1"), ("ir", b"2")), "repeated"),
        ("lower", (("ir", "text"),), "not bytes"),
        ("lower", (("ir", bytearray(b"x")),), "not bytes"),
    ],
)
def test_malformed_keys_are_refused(kind: str, parts: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ActionKey(kind, parts)


@pytest.mark.parametrize(
    "value, shown",
    [
        (b"2.27", "2.27"),
        ("µ".encode(), "µ"),
        (b"", ""),
        (b"x" * 200, "x" * 200),
        (b"x" * 201, "201 bytes, sha256 "),
        (b"\xff\xfe", "2 bytes, sha256 "),
        (b"two\nlines", "9 bytes, sha256 "),
        (b"\x1b[31m", "5 bytes, sha256 "),
    ],
)
def test_short_printable_values_are_shown_and_others_by_digest(value: bytes, shown: str) -> None:
    part = KeyPart.of("name", value)
    assert part.shown() == shown if part.short is not None else part.shown().startswith(shown)
    assert (part.short is None) == shown.endswith("sha256 ")
