"""How much memory a process and its descendants occupy, read from /proc."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_PROC: Final = Path("/proc")


def resident_bytes(pid: int) -> int:
    """Resident memory of the process `pid` and of those it started, in bytes; 0 if it is gone."""
    total = 0
    pending = [pid]
    while pending:
        process = pending.pop()
        folder = _PROC / str(process)
        try:
            total += int((folder / "statm").read_bytes().split()[1]) * _PAGE
            for thread in (folder / "task").iterdir():
                pending += map(int, (thread / "children").read_bytes().split())
        except (OSError, IndexError, ValueError):
            continue
    return total
