"""One warning a process, store and kind of trouble; every further one is only counted."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from typing import Literal

from neuron_compile.cache.errors import CacheWarning

Trouble = Literal["damage", "disk", "trust", "remote", "size"]

_warned: set[tuple[str, Trouble]] = set()
_guard = threading.Lock()


class Complaints:
    """The complaints about one store, named `place` in the warnings."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.counts: Counter[Trouble] = Counter()

    def about(self, trouble: Trouble, message: str) -> None:
        """Count the trouble, and warn if this process has not yet warned of its kind for this place."""
        with _guard:
            self.counts[trouble] += 1
            mark = (self.place, trouble)
            if mark in _warned:
                return
            _warned.add(mark)
        warnings.warn(f"compile cache {self.place}: {message}", CacheWarning, stacklevel=2)
