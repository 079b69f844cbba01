"""A mapping that is made when it is first looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class LazyTable(Mapping[Key, Value]):
    """The mapping that `make` gives, called once and only if somebody looks.

    AOTAutograd takes the decompositions as an argument, and looks at them when it has to trace.
    """

    def __init__(self, make: Callable[[], Mapping[Key, Value]]) -> None:
        self._make = make
        self._made: Mapping[Key, Value] | None = None

    def _table(self) -> Mapping[Key, Value]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __getitem__(self, key: Key) -> Value:
        return self._table()[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._table())

    def __len__(self) -> int:
        return len(self._table())
