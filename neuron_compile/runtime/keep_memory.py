"""Memory that programs free stays with the process.

A run's temporaries are one block, often of more than 32 MiB. The C library takes such blocks from
the kernel and gives them back each time, and the kernel clears each page again at its first use.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Final

from neuron_compile.settings import read_settings

# mallopt(3): M_MMAP_MAX, M_TRIM_THRESHOLD.
_MOST_MAPPED: Final = -4
_TRIM_ABOVE: Final = -1
_KEPT_BYTES: Final = 2**31 - 1


@functools.cache
def keep_memory() -> bool:
    """Tell the C library so, once a process; False where it is another than glibc, or where
    `NEURON_COMPILE_KEEP_MEMORY=0` forbids it."""
    if not read_settings().keep_memory:
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    return bool(mallopt(_MOST_MAPPED, 0) and mallopt(_TRIM_ABOVE, _KEPT_BYTES))
