"""Everything about a cache that a user may set, as plain values. Reading the environment is the
caller's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a store; `None` is unbounded. Sizes are bytes as the disk counts them (whole
    blocks).
    """

    max_bytes: int | None = 20 << 30
    max_entries: int | None = 200_000
    max_age_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class RemotePolicy:
    """A remote tier at `url`, opened by fsspec with `options`.

    `write_back` sends what is produced here to the remote. A request may take `timeout_seconds`,
    retries included, and longer by its size at `slowest_bytes_per_second`.
    """

    url: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    write_back: bool = False
    timeout_seconds: float = 10.0
    slowest_bytes_per_second: float = 1e6
    retries: int = 2


@dataclass(frozen=True, slots=True)
class CachePolicy:
    """How a cache behaves.

    `wait_seconds` is how long one who wants a key waits for another who is producing it, before
    producing it itself. `locks_directory` is a directory on a local disk (default: none where lock
    files in the store work, else one for this user under the system's temporary directory).
    `store_locks` says whether lock files in the store itself are used: `None` decides by the kind
    of file system. `allow_shared` accepts a directory that others can write to. `key_file` holds
    the secret that entries are signed and checked with.
    """

    limits: Limits = field(default_factory=Limits)
    read_only: bool = False
    require_cache: bool = False
    allow_shared: bool = False
    key_file: Path | None = None
    wait_seconds: float = 1800.0
    locks_directory: Path | None = None
    store_locks: bool | None = None
    remote: RemotePolicy | None = None
