"""How much memory and time one action may take."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Generous: the largest programs seen take XLA a few minutes.
DEFAULT_SECONDS: Final = 600.0
# What is left to the user's own process when a compilation takes all it may.
_SHARE: Final = 0.8
_CGROUP_FILES: Final = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


@dataclass(frozen=True, slots=True)
class ActionLimits:
    """Bytes of resident memory and seconds of wall time of one action; None is without limit.

    Memory is what the worker and the processes it started occupy (RSS), looked at 20 times a
    second. Not address space (RLIMIT_AS): XLA and LLVM reserve many times what they use, so that a
    limit on it refuses programs that would have fitted.
    """

    memory_bytes: int | None = None
    seconds: float | None = DEFAULT_SECONDS


def machine_memory() -> int:
    """Bytes that this process and its children may use: the machine's, or the container's limit."""
    sizes = [_number(Path(file)) for file in _CGROUP_FILES]
    sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(size for size in sizes if size is not None)


def default_memory_limit() -> int:
    """The share of the machine's memory that one compilation may take unless the user says else."""
    return int(machine_memory() * _SHARE)


def _number(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdecimal() else None
