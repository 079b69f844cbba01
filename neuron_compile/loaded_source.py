"""Whether the lowering on disk is still the one that this process has loaded.

Modules are loaded when they are needed, and the digest of their source is made when something is
compiled: if files change in between, it is not the digest of what runs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from neuron_compile import lowering

State = frozenset[tuple[str, int, int]]


def source_state(folder: Path) -> State:
    """Path, size and time of change in nanoseconds of each Python file under `folder`."""
    found = ((str(file), file.stat()) for file in folder.rglob("*.py"))
    return frozenset((path, status.st_size, status.st_mtime_ns) for path, status in found)


def marker() -> bytes:
    """Empty while the source is that of the package's import; afterwards what no other process
    has, so that what this one makes is not taken for the work of the files."""
    return b"" if source_state(_FOLDER) == _AT_IMPORT else _OURS


_FOLDER: Final = Path(lowering.__file__).parent
_AT_IMPORT: Final = source_state(_FOLDER)
_OURS: Final = os.urandom(16).hex().encode()
