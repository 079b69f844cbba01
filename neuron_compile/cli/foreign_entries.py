"""Entries of the cache that are of no use on this machine."""

from __future__ import annotations

from collections.abc import Iterable

from neuron_compile.cache import ActionEntry, KeyPart
from neuron_compile.pjrt.host_cpu import host_cpu


def foreign_entries(entries: Iterable[ActionEntry]) -> list[ActionEntry]:
    """Those of `entries` that hold code for another processor than this machine's.

    Their keys say so, so that they are never looked up here; programs and NEFFs for a device are at
    home everywhere.
    """
    own = {f"CPU {name}": KeyPart.of(f"CPU {name}", value.encode()) for name, value in host_cpu()}
    return [
        entry for entry in entries if any(part != own.get(part.name, part) for part in entry.parts)
    ]
