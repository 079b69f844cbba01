"""The bytes of an action entry: which key it answers, and which blobs are the answer.

One header line, then canonical JSON:

    neuron-compile-action 1 <sha256 of the body> <hmac of the body, or ->
    {"outputs": [[name, digest, size], ...], "parts": [[name, size, digest, short], ...], ...}

There is exactly one encoding of an entry; anything else is refused. It must not know paths.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from neuron_compile.cache.digests import digest_of, is_digest
from neuron_compile.cache.errors import CorruptEntryError
from neuron_compile.cache.key import FORMAT_VERSION, LONGEST_SHORT_VALUE, KeyPart, digest_of_records

if TYPE_CHECKING:
    from neuron_compile.cache.signing import Signer

LARGEST_ENTRY: Final = 4 << 20
"""An entry is a few kilobytes; a reader refuses to take in more than this many bytes."""

_MAGIC: Final = "neuron-compile-action"
_BLOB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_LARGEST_SIZE: Final = 1 << 53
_FIELDS: Final = frozenset(
    {"created", "key", "kind", "outputs", "parts", "produce_seconds", "what"}
)


@dataclass(frozen=True, slots=True)
class OutputBlob:
    """A named result: its digest in the blob store and its size in bytes."""

    name: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class ActionEntry:
    """An action that was carried out.

    `created` is in seconds since the epoch, `produce_seconds` is how long the work took, `what` is
    the name the caller gave it; none of the three is part of the key.
    """

    key: str
    kind: str
    parts: tuple[KeyPart, ...]
    outputs: tuple[OutputBlob, ...]
    created: float
    produce_seconds: float
    what: str

    @property
    def size_bytes(self) -> int:
        """The bytes of all results together."""
        return sum(output.size for output in self.outputs)


def is_blob_name(name: object) -> bool:
    """Whether `name` may name a result: a plain file name, never a path."""
    return isinstance(name, str) and _BLOB_NAME.fullmatch(name) is not None


def checked_blobs(blobs: Any, what: str) -> dict[str, bytes]:
    """`blobs` in the order of their names. `TypeError` unless it maps plain names to bytes."""
    if not isinstance(blobs, Mapping) or not blobs:
        raise TypeError(f"producing {what} gave no mapping of blobs but {type(blobs).__name__}")
    for name, data in blobs.items():
        if not is_blob_name(name) or not isinstance(data, bytes):
            raise TypeError(f"producing {what} gave {name!r} of type {type(data).__name__}")
    return {name: blobs[name] for name in sorted(blobs)}


def encode(entry: ActionEntry, signer: Signer | None) -> bytes:
    """The one encoding of `entry`, signed if there is a signer."""
    body = json.dumps(
        {
            "created": entry.created,
            "key": entry.key,
            "kind": entry.kind,
            "outputs": [[output.name, output.digest, output.size] for output in entry.outputs],
            "parts": [[part.name, part.size, part.digest, part.short] for part in entry.parts],
            "produce_seconds": entry.produce_seconds,
            "what": entry.what,
        },
        sort_keys=True,
        separators=(",", ":"),
    ).encode()
    signature = "-" if signer is None else signer.sign(body)
    return f"{_MAGIC} {FORMAT_VERSION} {digest_of(body)} {signature}\n".encode() + body


def decode(data: bytes, key: str, signer: Signer | None) -> ActionEntry:
    """The entry in `data`, proven to answer `key`.

    Raises `CorruptEntryError`, and nothing else, if it is damaged, of another version, for another
    key, or (when there is a signer) not signed by it.
    """
    if len(data) > LARGEST_ENTRY:
        raise CorruptEntryError(f"entry of {len(data)} bytes is too large")
    body = _checked_body(data, signer)
    try:
        entry = _from_json(json.loads(body))
        proven = digest_of_records(entry.kind, entry.parts)
        canonical = encode(entry, None)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise CorruptEntryError(f"entry is malformed: {error}") from error
    if canonical.partition(b"\n")[2] != body:
        raise CorruptEntryError("entry is not in canonical form")
    if not entry.key == proven == key:
        raise CorruptEntryError(f"entry answers another key, {proven[:12]}")
    return entry


def _checked_body(data: bytes, signer: Signer | None) -> bytes:
    header, newline, body = data.partition(b"\n")
    try:
        magic, version, checksum, signature = header.decode("ascii").split(" ")
    except ValueError as error:
        raise CorruptEntryError("entry has no header" if data else "entry is empty") from error
    if magic != _MAGIC or not newline:
        raise CorruptEntryError("entry has no header")
    if version != str(FORMAT_VERSION):
        raise CorruptEntryError(
            f"entry has format version {version[:20]}, expected {FORMAT_VERSION}"
        )
    if checksum != digest_of(body):
        raise CorruptEntryError("entry does not match its checksum")
    if signature != "-" and not is_digest(signature):
        raise CorruptEntryError("entry has a malformed signature")
    if signer is not None and not signer.accepts(body, signature):
        raise CorruptEntryError("entry is not signed with the configured key")
    return body


def _from_json(body: object) -> ActionEntry:
    if not isinstance(body, dict) or body.keys() != _FIELDS:
        raise ValueError("fields are missing or unknown")
    outputs = tuple(OutputBlob(*_row(row, 3)) for row in _rows(body["outputs"]))
    parts = tuple(KeyPart(*_row(row, 4)) for row in _rows(body["parts"]))
    for output in outputs:
        if (
            not is_blob_name(output.name)
            or not is_digest(output.digest)
            or not _is_size(output.size)
        ):
            raise ValueError(f"bad output {str(output)[:200]}")
    if [output.name for output in outputs] != sorted({output.name for output in outputs}):
        raise ValueError("outputs are repeated or out of order")
    for part in parts:
        _check_part(part)
    for name in ("key", "kind", "what"):
        if not isinstance(body[name], str):
            raise ValueError(f"{name} is not text")
    for name in ("created", "produce_seconds"):
        if not isinstance(body[name], float) or not math.isfinite(body[name]) or body[name] < 0:
            raise ValueError(f"{name} is not a time")
    return ActionEntry(
        body["key"],
        body["kind"],
        parts,
        outputs,
        body["created"],
        body["produce_seconds"],
        body["what"],
    )


def _check_part(part: KeyPart) -> None:
    if not isinstance(part.name, str) or not is_digest(part.digest) or not _is_size(part.size):
        raise ValueError(f"bad part {str(part)[:200]}")
    if part.short is None:
        return
    if not isinstance(part.short, str) or len(part.short) > LONGEST_SHORT_VALUE:
        raise ValueError(f"value of part {part.name[:100]!r} is not short text")
    if digest_of(part.short.encode()) != part.digest:
        raise ValueError(f"value of part {part.name[:100]!r} does not match its digest")


def _rows(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return value


def _row(value: object, length: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != length:
        raise ValueError(f"a row of {length} was expected")
    return value


def _is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < _LARGEST_SIZE
