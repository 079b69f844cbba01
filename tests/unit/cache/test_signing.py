"""Signing keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import CacheError
from neuron_compile.cache.signing import Signer

if TYPE_CHECKING:
    from pathlib import Path


def _key_file(tmp_path: Path, content: bytes, mode: int = 0o600) -> Path:
    path = tmp_path / "key"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_a_signature_is_accepted_for_its_body_and_key_only(tmp_path: Path) -> None:
    signer = Signer.from_file(_key_file(tmp_path, b"0123456789abcdef\n"))
    signature = signer.sign(b"body")
    assert signer == Signer(b"0123456789abcdef")
    assert signer.accepts(b"body", signature)
    assert not signer.accepts(b"Body", signature)
    assert not Signer(b"0123456789abcdeF").accepts(b"body", signature)
    assert not signer.accepts(b"body", "-")


def test_signatures_are_hmac_sha256() -> None:
    # RFC 4231, test case 2.
    expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    assert Signer(b"Jefe").sign(b"what do ya want for nothing?") == expected


def test_the_secret_is_not_printed() -> None:
    assert "hush" not in repr(Signer(b"hush hush hush hush"))


@pytest.mark.parametrize(
    "content, mode, message",
    [
        (b"short", 0o600, "shorter than 16"),
        (b"x" * 32, 0o604, "chmod"),
        (b"x" * 32, 0o602, "chmod"),
    ],
)
def test_weak_or_open_keys_are_refused(
    tmp_path: Path, content: bytes, mode: int, message: str
) -> None:
    with pytest.raises(CacheError, match=message):
        Signer.from_file(_key_file(tmp_path, content, mode))


def test_a_missing_key_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CacheError, match="cannot be read"):
        Signer.from_file(tmp_path / "none")
