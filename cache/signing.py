"""Signatures of entries. An entry names its blobs by digest: signing it signs them all."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.errors import CacheError

if TYPE_CHECKING:
    from pathlib import Path

_SHORTEST_KEY: Final = 16


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs and checks with HMAC-SHA-256 (RFC 2104) under one secret key."""

    secret: bytes = field(repr=False)

    @classmethod
    def from_file(cls, path: Path) -> Signer:
        """The signer whose key is the content of `path`, surrounding white space removed.

        Raises `CacheError` if the file cannot be read, is shorter than 16 bytes, or can be read by
        others.
        """
        try:
            secret = path.read_bytes().strip()
            mode = path.stat().st_mode
        except OSError as error:
            raise CacheError(f"the cache's signing key {path} cannot be read: {error}") from error
        if len(secret) < _SHORTEST_KEY:
            raise CacheError(
                f"the cache's signing key {path} is shorter than {_SHORTEST_KEY} bytes"
            )
        if mode & 0o007:
            raise CacheError(
                f"the cache's signing key {path} is open to every user: chmod o-rwx it"
            )
        return cls(secret)

    def sign(self, body: bytes) -> str:
        """The signature of `body` as 64 hexadecimal digits."""
        return hmac.new(self.secret, body, hashlib.sha256).hexdigest()

    def accepts(self, body: bytes, signature: str) -> bool:
        """Whether `signature` is this key's over `body`; takes the same time either way."""
        return hmac.compare_digest(self.sign(body), signature)


def signer_from(key_file: Path | None) -> tuple[Signer | None, str]:
    """The signer of `key_file`, if one is given; and why it cannot be had, if so."""
    if key_file is None:
        return None, ""
    try:
        return Signer.from_file(key_file), ""
    except CacheError as error:
        return None, f"not used: {error}"
