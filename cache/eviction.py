"""Which files to remove: a pure function of what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from neuron_compile.cache.layout import Kind, StoredFile
    from neuron_compile.cache.policy import Limits

_LOW_WATER: Final = 0.9


def choose_victims(
    files: Iterable[StoredFile],
    limits: Limits,
    now: float,
    held: Collection[tuple[Kind, str]] = (),
    spare_seconds: float = 0.0,
) -> list[StoredFile]:
    """The files to remove, least recently used first, so that the rest is within `limits`.

    What is older than `max_age_seconds` goes in any case. If bytes or entries exceed their limit,
    files go until 90 % of it is left, so that the next publication does not start over. Files in
    `held`, and files used within `spare_seconds` before `now`, stay, even if the limits cannot be
    met then.

    A time of use in the future counts as `now`. Of files used at the same time the actions go
    first: a blob is used whenever an action of its is, so no action loses its blob before it goes
    itself.
    """
    ordered = sorted(files, key=lambda file: (min(file.used, now), file.kind, file.digest))
    size = sum(file.size for file in ordered)
    entries = sum(file.kind == "action" for file in ordered)
    size_goal = _goal(size, limits.max_bytes)
    entries_goal = _goal(entries, limits.max_entries)
    victims = []
    for file in ordered:
        age = max(0.0, now - file.used)
        is_old = limits.max_age_seconds is not None and age > limits.max_age_seconds
        is_over = size > size_goal or entries > entries_goal
        if not is_old and not is_over:
            break
        if (file.kind, file.digest) in held or (age < spare_seconds and not is_old):
            continue
        victims.append(file)
        size -= file.size
        entries -= file.kind == "action"
    return victims


def _goal(total: int, limit: int | None) -> float:
    if limit is None or total <= limit:
        return float("inf")
    return _LOW_WATER * limit
