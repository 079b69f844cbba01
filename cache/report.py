"""What a cache tells about itself."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_compile.cache import maintenance
from neuron_compile.cache.explain import explain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_compile.cache.history import History, Miss
    from neuron_compile.cache.local_tier import LocalTier
    from neuron_compile.cache.policy import Limits

_COMPARED: Final = 2000


@dataclass(frozen=True, slots=True)
class CacheStats:
    """The effective settings, the size of the store, and what this cache object has counted.

    `problem` says why the store is not used, if it is not. `complaints` counts troubles by kind.
    """

    directory: str
    remote: str | None
    problem: str
    entries: int
    blobs: int
    size_bytes: int
    quarantined: int
    limits: Limits
    counts: Mapping[str, float]
    complaints: Mapping[str, int]
    last_miss: Miss | None
    last_miss_reason: str


def gather(tier: LocalTier, history: History, counts: Mapping[str, float]) -> CacheStats:
    """The statistics of a store as it is now, and why the last look-up in vain was in vain."""
    blobs = actions = size = 0
    for kind in ("action", "blob"):
        for file in tier.layout.files(kind):
            size += file.size
            actions += kind == "action"
            blobs += kind == "blob"
    quarantined = 0
    with contextlib.suppress(OSError):
        quarantined = sum(1 for _ in tier.layout.quarantine.iterdir())
    last = next(iter(history.latest(1)), None)
    reason = ""
    if last is not None:
        compared = maintenance.entries(tier, _COMPARED)
        reason = str(explain(last.key, last.kind, last.parts, compared))
    troubles = {str(trouble): count for trouble, count in tier.complaints.counts.items()}
    return CacheStats(
        directory=str(tier.layout.root),
        remote=None if tier.policy.remote is None else tier.policy.remote.url,
        problem=tier.problem,
        entries=actions,
        blobs=blobs,
        size_bytes=size,
        quarantined=quarantined,
        limits=tier.policy.limits,
        counts=counts,
        complaints=troubles,
        last_miss=last,
        last_miss_reason=reason,
    )
