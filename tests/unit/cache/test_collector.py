"""Collections."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cache_actors import giving
from neuron_compile.cache import CacheError, Limits
from neuron_compile.cache.locks import try_lock

if TYPE_CHECKING:
    from pathlib import Path

    from cache_actors import MakeCache, MakeKey

_BLOBS = {"a": b"a" * 5000, "b": b"b" * 5000}


def test_only_one_collects_at_a_time(make: MakeCache, key: MakeKey, store: Path) -> None:
    cache = make()
    cache.get_or_produce(key(1), lambda: dict(_BLOBS))
    lock = try_lock(store / "locks" / "collection")
    assert lock is not None
    with pytest.raises(CacheError, match="another process is evicting"):
        cache.evict(Limits(max_bytes=0))
    lock.release()
    assert cache.evict(Limits(max_bytes=0)).removed_entries == 1


def test_a_collection_that_is_late_stops_and_the_next_one_goes_on(
    make: MakeCache, key: MakeKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_compile.cache.removal._BATCH", 2)
    cache = make()
    for number in range(6):
        cache.get_or_produce(key(number), giving(a=b"%d" % number))
    tier = cache._local
    first = tier.collect(Limits(max_bytes=0), seconds=0.0)
    assert first is not None
    assert (first.is_finished, first.removed_entries + first.entries) == (False, 6)
    measured = tier.usage.measured()
    assert measured is not None
    assert not measured.is_finished
    cache.get_or_produce(key(9), giving(a=b"9"))  # finds work left over, and nothing over a limit
    measured = tier.usage.measured()
    assert measured is not None
    assert measured.is_finished
    assert cache.check().is_clean
