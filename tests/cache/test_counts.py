"""What caches count, over processes and over the troubles of one."""

from __future__ import annotations

import functools
import json
import random
import warnings
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import ActionCache, CachePolicy, CacheWarning

if TYPE_CHECKING:
    from pathlib import Path

    from cache_actors import Actions, Fork, Say


@pytest.mark.multiprocess
def test_counts_of_eight_processes_add_up_to_what_they_did(
    store: Path, tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks", wait_seconds=60)

    def wanted(process: int) -> list[int]:
        return random.Random(process).choices(range(12), k=30)

    def work(say: Say, process: int) -> None:
        cache = ActionCache(store, policy=policy)
        for number in wanted(process):
            cache.get_or_produce(actions.key(number), actions.producer(number))
        assert cache.get(actions.key(100 + process)) is None
        say(json.dumps(dict(cache.stats().counts)))

    children = [fork(functools.partial(work, process=process)) for process in range(8)]
    total: Counter[str] = Counter()
    for process, child in enumerate(children):
        counts = json.loads(child.join()[0])
        assert counts["hits"] + counts["produced"] == 30, process
        total.update({name: int(count) for name, count in counts.items()})
    asked = {number for process in range(8) for number in wanted(process)}
    assert total["produced"] == total["stored"] == len(asked)
    assert total["hits"] == 8 * 30 - len(asked)
    assert total["misses"] == len(asked) + 8
    assert total["uncached"] == total["evicted"] == total["wait_timeouts"] == 0
    stats = ActionCache(store, policy=policy).stats()
    assert stats.entries == len(asked)
    assert stats.last_miss is not None


def test_who_wants_troubles_to_be_errors_makes_the_warning_one(
    store: Path, tmp_path: Path, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks")
    ActionCache(store, policy=policy).get_or_produce(actions.key(1), actions.producer(1))
    (entry,) = (store / "ac").glob("*/*")
    entry.write_bytes(b"damaged")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        with pytest.raises(CacheWarning, match="set aside"):
            ActionCache(store, policy=policy).get_or_produce(actions.key(1), actions.producer(1))
