"""Keeping a store within its limits, and emptying it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neuron_compile.cache import quarantine
from neuron_compile.cache.eviction import choose_victims
from neuron_compile.cache.removal import Spared, clock_tick, recover, remove
from neuron_compile.cache.sweeps import listed, sweep_temporary
from neuron_compile.cache.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_compile.cache.holds import Holds
    from neuron_compile.cache.layout import Kind, Layout, StoredFile
    from neuron_compile.cache.policy import Limits


@dataclass(frozen=True, slots=True)
class Collection:
    """What a collection did: actions and bytes removed, actions and bytes left.

    `is_finished` is false if its time ran out before the limits were met.
    """

    removed_entries: int
    removed_bytes: int
    entries: int
    size_bytes: int
    is_finished: bool = True


def collect(
    layout: Layout,
    holds: Holds,
    limits: Limits,
    now: float,
    *,
    spare_seconds: float = 0.0,
    is_late: Callable[[], bool] = lambda: False,
) -> Collection:
    """Bring the store within `limits`, sparing what running processes hold.

    It ends early, between two batches of removals, when `is_late`. The caller holds the collection
    lock. Files that vanish meanwhile are somebody else's work. Raises `OSError`.
    """
    sweep_temporary(layout.temporary)
    recover(layout)
    quarantine.sweep(layout.quarantine, now)
    tick = clock_tick(layout)
    spared = Spared(layout, holds)
    spared.update()
    files = [*layout.files("action"), *layout.files("blob")]
    # An action that is being published is held, and its blobs are not known yet. Either the hold
    # was seen above, or the blobs are younger than that.
    young = {(file.kind, file.digest) for file in files if file.changed_ns > tick}
    spared.update()
    victims = choose_victims(files, limits, now, spared.marks | young, spare_seconds)
    removed: list[StoredFile] = []
    is_finished = True
    for done, batch in remove(layout, spared, victims):
        removed += batch
        is_finished = done == len(victims)
        if is_late():
            break
    removed_bytes = sum(file.size for file in removed)
    removed_entries = sum(file.kind == "action" for file in removed)
    entries = sum(file.kind == "action" for file in files) - removed_entries
    size = sum(file.size for file in files) - removed_bytes
    return Collection(removed_entries, removed_bytes, entries, size, is_finished)


def clear(layout: Layout) -> Collection:
    """Remove every action and blob, held or not. Who has the bytes in memory keeps them."""
    removed_bytes = removed_entries = 0
    kinds: tuple[Kind, ...] = ("action", "blob")
    for kind in kinds:
        for file in layout.files(kind):
            with contextlib.suppress(FileNotFoundError):
                layout.path(kind, file.digest).unlink()
                removed_bytes += file.size
                removed_entries += kind == "action"
    for path in listed(layout.evicted):  # else the next collection would put it back
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
    sweep_temporary(layout.temporary)
    return Collection(removed_entries, removed_bytes, 0, 0)


def measure(layout: Layout, now: float) -> Usage:
    """The store's size by looking at every file."""
    actions = list(layout.files("action"))
    size = sum(file.size for file in actions) + sum(file.size for file in layout.files("blob"))
    return Usage(size, len(actions), now)
