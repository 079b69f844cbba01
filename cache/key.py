"""Keys: the named inputs of an action and their one digest. What the parts mean is the caller's
affair.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.digests import digest_of

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMAT_VERSION: Final = 1
"""Version of entries and keys alike. It is hashed into every key, so no reader ever meets another's
format.
"""

LONGEST_SHORT_VALUE: Final = 200
"""Printable values up to this many bytes are kept in entries, so that a miss can show them."""

_KIND = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_NAME = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?")


@dataclass(frozen=True, slots=True)
class KeyPart:
    """One named input as an entry remembers it: its size in bytes, its digest, and its text if
    short.
    """

    name: str
    size: int
    digest: str
    short: str | None

    @classmethod
    def of(cls, name: str, value: bytes) -> KeyPart:
        """The record of `value` under `name`."""
        return cls(name, len(value), digest_of(value), _short(value))

    def shown(self) -> str:
        """The value itself if it was kept, else its size and the head of its digest."""
        return (
            self.short
            if self.short is not None
            else f"{self.size} bytes, sha256 {self.digest[:12]}"
        )


@dataclass(frozen=True)
class ActionKey:
    """The identity of an action: its kind and its named inputs.

    The order of the parts does not count: they are hashed by name, and a name may occur once only.
    Equal parts give the same digest in every process, on every machine.

    Raises `ValueError` for a malformed kind or name, a repeated name, and a value that is not
    bytes.
    """

    kind: str
    parts: tuple[tuple[str, bytes], ...]
    digest: str = field(init=False, compare=False)
    records: tuple[KeyPart, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name, value in self.parts:
            if not isinstance(value, bytes):
                raise ValueError(f"key part {name!r} is {type(value).__name__}, not bytes")
        ordered = tuple(sorted(self.parts))
        object.__setattr__(self, "parts", ordered)
        records = tuple(KeyPart.of(name, value) for name, value in ordered)
        object.__setattr__(self, "records", records)
        object.__setattr__(self, "digest", digest_of_records(self.kind, records))


def digest_of_records(kind: str, records: Iterable[KeyPart]) -> str:
    """The key's digest from the digests of its parts, so that an entry can prove which key it
    answers.

    Every field is preceded by its length in eight bytes: no two lists of parts give the same
    stream. Raises `ValueError` when kind or names are malformed, repeated or out of order.
    """
    if _KIND.fullmatch(kind) is None:
        raise ValueError(f"kind of action {kind!r} is not a lower-case word")
    stream = hashlib.sha256(b"neuron-compile action\n")
    _feed(stream, str(FORMAT_VERSION).encode())
    _feed(stream, kind.encode())
    previous = ""
    for record in records:
        if _NAME.fullmatch(record.name) is None:
            raise ValueError(f"name of key part {record.name!r} is not printable ASCII")
        if record.name <= previous:
            raise ValueError(f"key part {record.name!r} is repeated or out of order")
        previous = record.name
        _feed(stream, record.name.encode())
        _feed(stream, str(record.size).encode())
        _feed(stream, bytes.fromhex(record.digest))
    return stream.hexdigest()


def _feed(stream: hashlib._Hash, data: bytes) -> None:
    stream.update(len(data).to_bytes(8, "little"))
    stream.update(data)


def _short(value: bytes) -> str | None:
    if len(value) > LONGEST_SHORT_VALUE:
        return None
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None
