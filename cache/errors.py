"""What can go wrong in the cache, one class for each thing the caller may do about it."""

from __future__ import annotations


class CacheError(Exception):
    """Root of everything the cache raises on its own account."""


class CacheMissError(CacheError):
    """The policy demands a hit and there is none; the message explains the miss."""


class CorruptEntryError(CacheError):
    """Bytes from a store, a remote or a bundle are not what they claim to be."""


class UntrustedDirectoryError(CacheError):
    """The directory can be written by someone who is not to be trusted with executables."""


class CacheWarning(UserWarning):
    """The cache failed or found damage; the work goes on without it."""
