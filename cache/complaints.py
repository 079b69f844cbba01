"""One warning a process, store and kind of trouble; every further one is only counted."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Final, Literal

from neuron_compile.cache.errors import CacheWarning
from neuron_compile.cache.forks import Guard

Trouble = Literal["damage", "disk", "trust", "remote", "size"]

_warned: Final[set[tuple[str, Trouble]]] = set()
_guard: Final = Guard()


class Complaints:
    """The complaints about one store, named `place` in the warnings."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.counts: Counter[Trouble] = Counter()

    def about(self, trouble: Trouble, message: str) -> None:
        """Count the trouble; warn if this process has not yet warned of its kind for this place."""
        mark = (self.place, trouble)
        with _guard:
            self.counts[trouble] += 1
            is_new = mark not in _warned
            _warned.add(mark)
        if is_new:
            warnings.warn(f"compile cache {self.place}: {message}", CacheWarning, stacklevel=2)
