"""Protocol buffers' wire format, as far as HLO needs it: fields in order, and back to bytes.

Source: the Protocol Buffers documentation, "Encoding".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5

Field = tuple[int, int, "int | bytes"]


def fields(message: bytes) -> Iterator[Field]:
    """Each field as (number, wire type, value): an int for varints, bytes for all else.

    Raises `ValueError` on bytes that are no message.
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if number == 0 or kind not in {VARINT, FIXED64, BYTES, FIXED32}:
            raise ValueError(f"no protocol buffer: field {number} of wire type {kind}")
        if kind == VARINT:
            value, at = _varint(message, at)
            yield number, kind, value
            continue
        if kind == BYTES:
            size, at = _varint(message, at)
        else:
            size = 8 if kind == FIXED64 else 4
        if at + size > len(message):
            raise ValueError("no protocol buffer: cut off within a field")
        yield number, kind, message[at : at + size]
        at += size


def message_of(items: Iterable[Field]) -> bytes:
    """The bytes of fields in the given order."""
    parts = []
    for number, kind, value in items:
        parts.append(varint(number << 3 | kind))
        if isinstance(value, int):
            parts.append(varint(value))
            continue
        if kind == BYTES:
            parts.append(varint(len(value)))
        parts.append(value)
    return b"".join(parts)


def varint(number: int) -> bytes:
    """A non-negative integer below 2**64."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def packed(data: bytes) -> list[int]:
    """The numbers of a packed field."""
    numbers, at = [], 0
    while at < len(data):
        number, at = _varint(data, at)
        numbers.append(number)
    return numbers


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("no protocol buffer: cut off within a number")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
        shift += 7
