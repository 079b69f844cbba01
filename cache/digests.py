"""The one digest of the store: SHA-256, written as 64 lower-case hexadecimal digits."""

from __future__ import annotations

import hashlib
import re

_HEX = re.compile(r"[0-9a-f]{64}")


def digest_of(data: bytes) -> str:
    """SHA-256 of `data` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def is_digest(text: object) -> bool:
    """Whether `text` is exactly what `digest_of` gives, and so is safe as a file name."""
    return isinstance(text, str) and _HEX.fullmatch(text) is not None
