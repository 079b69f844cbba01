"""The peak of this process's resident memory."""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path


def forget_peak() -> None:
    """Begin a new peak from what is resident now, after free memory went back to the kernel."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    # proc(5): 5 resets the peak resident set size.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    """Bytes at the peak since `forget_peak`, or since the process began."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/status has no VmHWM")
