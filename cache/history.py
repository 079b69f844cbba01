"""The keys that were missed lately, with their parts, so that another process can explain them
later.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.digests import is_digest
from neuron_compile.cache.disk import in_directory
from neuron_compile.cache.key import KeyPart

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_LARGEST: Final = 256 << 10


@dataclass(frozen=True, slots=True)
class Miss:
    """A look-up in vain: which key, for what, and when (seconds since the epoch)."""

    at: float
    key: str
    kind: str
    what: str
    parts: tuple[KeyPart, ...]


class History:
    """The misses of a store, the latest few hundred. Nothing here ever fails."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "misses"

    def add(self, miss: Miss) -> None:
        """Append `miss`; when the file is full it becomes the older half."""
        rows = [[part.name, part.size, part.digest, part.short] for part in miss.parts]
        line = json.dumps([miss.at, miss.key, miss.kind, miss.what, rows]) + "\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        with contextlib.suppress(OSError):
            descriptor = in_directory(self._path.parent, lambda: os.open(self._path, flags, 0o666))
            try:
                os.write(descriptor, line.encode())
                is_full = os.fstat(descriptor).st_size > _LARGEST
            finally:
                os.close(descriptor)
            if is_full:
                self._path.replace(self._path.with_suffix(".older"))

    def latest(self, count: int) -> Sequence[Miss]:
        """Up to `count` misses, the latest first. Lines that make no sense are passed over."""
        lines: list[bytes] = []
        for path in (self._path.with_suffix(".older"), self._path):
            with contextlib.suppress(OSError):
                lines += path.read_bytes().splitlines()
        found: list[Miss] = []
        for line in reversed(lines):
            if len(found) == count:
                break
            with contextlib.suppress(ValueError, TypeError, RecursionError):
                found.append(_parse(line))
        return found


def _parse(line: bytes) -> Miss:
    at, key, kind, what, rows = json.loads(line)
    if not is_digest(key) or not isinstance(kind, str) or not isinstance(what, str):
        raise ValueError("not a record of a miss")
    parts = tuple(
        KeyPart(str(name), int(size), str(digest), short) for name, size, digest, short in rows
    )
    return Miss(float(at), key, kind, what, parts)
