"""Damaged files are evidence: kept for a while, and not for ever."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

KEEP_SECONDS: Final = 7 * 24 * 3600.0
KEEP_FILES: Final = 64
KEEP_BYTES: Final = 256 << 20


def sweep(directory: Path, now: float) -> int:
    """Remove what is older than a week, then the oldest beyond 64 files or 256 MiB. Returns the
    count.
    """
    found = []
    with contextlib.suppress(OSError):
        for path in list(directory.iterdir()):
            with contextlib.suppress(OSError):
                status = path.lstat()
                found.append((status.st_mtime, status.st_size, path))
    removed = 0
    size = 0
    for kept, (set_aside, file_size, path) in enumerate(sorted(found, reverse=True)):
        size += file_size
        if now - set_aside <= KEEP_SECONDS and kept < KEEP_FILES and size <= KEEP_BYTES:
            continue
        with contextlib.suppress(OSError):
            path.rmdir() if path.is_dir() else path.unlink()
            removed += 1
    return removed
