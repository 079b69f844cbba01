"""What a look-up gives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neuron_compile.cache.blobs import Blobs


class Outcome(StrEnum):
    """Where the blobs came from."""

    HIT = "hit"
    REMOTE_HIT = "remote hit"
    PRODUCED = "produced"
    UNCACHED = "uncached"
    """Produced, and not stored: the cache is unusable, read-only or too small."""


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The verified blobs of an action.

    `produce_seconds` is what the work took, now or when the entry was made; `lookup_seconds` is
    what the cache took, waiting for others included.
    """

    blobs: Blobs
    outcome: Outcome
    produce_seconds: float
    lookup_seconds: float

    @property
    def is_hit(self) -> bool:
        """Whether nothing had to be produced."""
        return self.outcome in (Outcome.HIT, Outcome.REMOTE_HIT)

    @property
    def seconds_saved(self) -> float:
        """The work that the hit spared, less the look-up; 0 if there was no hit."""
        return max(0.0, self.produce_seconds - self.lookup_seconds) if self.is_hit else 0.0
