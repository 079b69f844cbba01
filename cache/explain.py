"""Why did it miss? The stored entry most like the wanted key, and the parts that differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuron_compile.cache.entry import ActionEntry
    from neuron_compile.cache.key import KeyPart

_BULK_WEIGHT = 4


@dataclass(frozen=True, slots=True)
class PartDifference:
    """A part that differs: how the stored entry shows it and how the wanted key does; `None` is
    absent.
    """

    name: str
    stored: str | None
    wanted: str | None

    def __str__(self) -> str:
        if self.stored is None:
            return f"{self.name}: {self.wanted} is new"
        if self.wanted is None:
            return f"{self.name}: {self.stored} is gone"
        return f"{self.name}: {self.stored} -> {self.wanted}"


@dataclass(frozen=True, slots=True)
class MissExplanation:
    """The nearest stored entry and what sets the wanted key apart from it.

    `nearest` is `None` when the store holds nothing of that kind; `looked_at` counts the entries
    compared.
    """

    key: str
    kind: str
    nearest: ActionEntry | None
    differences: tuple[PartDifference, ...]
    looked_at: int
    note: str = ""

    def __str__(self) -> str:
        if self.note:
            return self.note
        if self.nearest is None:
            return f"the cache holds no {self.kind} entry"
        if not self.differences:
            return f"the entry {self.key[:12]} is in the cache"
        lines = [f"  {difference}" for difference in self.differences]
        name = f" ({self.nearest.what})" if self.nearest.what else ""
        return "\n".join([f"nearest entry {self.nearest.key[:12]}{name} differs in", *lines])


def explain(
    key: str, kind: str, wanted: Sequence[KeyPart], entries: Iterable[ActionEntry]
) -> MissExplanation:
    """Compare the wanted parts with every entry of the same kind; the least different one explains.

    A part too long to be shown (the program itself) counts four times: an entry for the same
    program under other tools explains more than one for another program. Of equals the first wins.
    """
    nearest: ActionEntry | None = None
    least = 0
    looked_at = 0
    for entry in entries:
        if entry.kind != kind or entry.key == key:
            continue
        looked_at += 1
        distance = _distance(wanted, entry.parts)
        if nearest is None or distance < least:
            nearest, least = entry, distance
    differences = () if nearest is None else tuple(_differences(wanted, nearest.parts))
    return MissExplanation(key, kind, nearest, differences, looked_at)


def _distance(wanted: Sequence[KeyPart], stored: Sequence[KeyPart]) -> int:
    left = {part.name: part for part in wanted}
    right = {part.name: part for part in stored}
    total = 0
    for name in left.keys() | right.keys():
        a, b = left.get(name), right.get(name)
        if a is not None and b is not None and a.digest == b.digest:
            continue
        is_bulk = any(part is not None and part.short is None for part in (a, b))
        total += _BULK_WEIGHT if is_bulk else 1
    return total


def _differences(wanted: Sequence[KeyPart], stored: Sequence[KeyPart]) -> list[PartDifference]:
    left = {part.name: part for part in wanted}
    right = {part.name: part for part in stored}
    found = []
    for name in sorted(left.keys() | right.keys()):
        a, b = left.get(name), right.get(name)
        if a is not None and b is not None and a.digest == b.digest:
            continue
        found.append(PartDifference(name, b.shown() if b else None, a.shown() if a else None))
    return found
