"""What a tier gives for a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from neuron_compile.cache.blobs import Blobs
    from neuron_compile.cache.entry import ActionEntry


class Found(NamedTuple):
    """An entry and its verified blobs."""

    entry: ActionEntry
    blobs: Blobs
