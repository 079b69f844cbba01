"""Writers killed with SIGKILL at every step: nothing wrong is read, nothing published is lost."""

from __future__ import annotations

import fcntl
import os
import random
import signal
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import ActionCache, CachePolicy, Limits, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.multiprocess

_STEPS = [
    (os, "open"), (os, "write"), (os, "pwrite"), (os, "ftruncate"), (os, "fsync"), (os, "replace"),
    (os, "rename"), (os, "link"), (os, "unlink"), (os, "mkdir"), (os, "utime"), (os, "close"),
    (fcntl, "flock"),
]  # fmt: skip


def _die_at(step: int, *, after: bool) -> None:
    """From now on, this process kills itself at its `step`-th call into the file system."""
    left = [step]

    def wrap(real: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            left[0] -= 1
            if left[0] == 0 and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            try:
                return real(*args, **kwargs)
            finally:
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        return call

    for module, name in _STEPS:
        setattr(module, name, wrap(getattr(module, name)))


def _half_write() -> None:
    """Writing a large buffer takes several calls, so that a kill can fall between them."""
    real = os.write
    os.write = lambda descriptor, data: real(descriptor, bytes(data[:1000]))  # type: ignore[assignment]


def test_a_writer_killed_at_each_step_leaves_all_or_nothing(tmp_path, fork, actions) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks")
    step = 0
    outcomes = []
    while True:
        step += 1
        for after in (False, True):
            store = tmp_path / f"store-{step}-{after}"
            seed = ActionCache(store, policy=policy)
            seed.get_or_produce(actions.key(0), lambda: actions.blobs(0))

            def write(say, store=store, step=step, after=after) -> None:
                cache = ActionCache(store, policy=policy)
                _half_write()
                _die_at(step, after=after)
                cache.get_or_produce(actions.key(4), lambda: actions.blobs(4))
                say("published")

            child = fork(write)
            said = child.join()
            assert child.status in (0, -signal.SIGKILL)
            outcomes.append(child.status)
            cache = ActionCache(store, policy=policy)
            audit = cache.check()
            assert audit.is_clean, (step, after, audit.problems)
            assert dict(cache.get(actions.key(0)) or {}) == actions.blobs(0)
            result = cache.get_or_produce(actions.key(4), lambda: actions.blobs(4))
            assert dict(result.blobs) == actions.blobs(4)
            if said:
                assert result.outcome is Outcome.HIT
            cache.check(repair=True)
            assert not list((store / "tmp").iterdir())
        if outcomes[-1] == 0:
            break
    assert step > 25, "a publication has more steps than that"


def test_seeded_rounds_of_processes_killed_at_random(tmp_path, fork, actions) -> None:
    store = tmp_path / "store"
    policy = CachePolicy(locks_directory=tmp_path / "locks", wait_seconds=60)
    published: set[int] = set()
    killed = 0
    for seed in range(200):
        choice = random.Random(seed)

        def work(say, choice: random.Random) -> None:
            cache = ActionCache(store, policy=policy)
            numbers = [choice.randrange(400) for _ in range(4)]
            _half_write()
            _die_at(choice.randrange(1, 160), after=choice.random() < 0.5)
            for number in numbers:
                result = cache.get_or_produce(
                    actions.key(number), lambda n=number: actions.blobs(n)
                )
                assert dict(result.blobs) == actions.blobs(number)
                say(str(number))

        children = [
            fork(lambda say, c=random.Random(choice.random()): work(say, c)) for _ in range(3)
        ]
        for child in children:
            published.update(int(line) for line in child.join())
            assert child.status in (0, -signal.SIGKILL), f"wrong bytes or an error in round {seed}"
            killed += child.status != 0
    assert killed > 150
    assert len(published) > 100
    cache = ActionCache(store, policy=policy)
    audit = cache.check()
    assert audit.is_clean, audit.problems
    for number in published:
        assert dict(cache.get(actions.key(number)) or {}) == actions.blobs(number)
    cache.check(repair=True)
    assert cache.check().abandoned == 0


def test_an_evictor_killed_at_each_step_leaves_a_sound_store(tmp_path, fork, actions) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks")
    held_number = 3
    step = 0
    while True:
        step += 1
        store = tmp_path / f"store-{step}"
        cache = ActionCache(store, policy=policy)
        for number in range(6):
            cache.get_or_produce(actions.key(number), lambda n=number: actions.blobs(n))
        held = cache.get(actions.key(held_number))

        def evict(say, store=store, step=step) -> None:
            other = ActionCache(store, policy=policy)
            _die_at(step, after=False)
            other.evict(Limits(max_bytes=0))

        child = fork(evict)
        child.join()
        assert child.status in (0, -signal.SIGKILL)
        again = ActionCache(store, policy=policy)
        audit = again.check()
        assert audit.is_clean, (step, audit.problems)
        assert dict(again.get(actions.key(held_number)) or {}) == actions.blobs(held_number)
        assert held is not None
        again.evict(Limits())
        assert not list((store / "evicted").iterdir()) if (store / "evicted").exists() else True
        if child.status == 0:
            break
    assert step > 20
    assert len(list(again.entries())) == 1


@pytest.mark.slow
def test_eight_processes_under_a_small_limit_for_a_minute(tmp_path: Path, fork, actions) -> None:
    import time

    store = tmp_path / "store"
    policy = CachePolicy(
        locks_directory=tmp_path / "locks", limits=Limits(max_bytes=400_000), wait_seconds=60
    )

    def work(say, seed: int) -> None:
        choice = random.Random(seed)
        cache = ActionCache(store, policy=policy)
        end = time.monotonic() + 60
        rounds = 0
        while time.monotonic() < end:
            number = choice.randrange(200)
            if choice.random() < 0.3:
                blobs = cache.get(actions.key(number))
                assert blobs is None or dict(blobs) == actions.blobs(number)
            elif choice.random() < 0.05:
                cache.evict(Limits(max_bytes=choice.randrange(100_000, 400_000)))
            else:
                result = cache.get_or_produce(
                    actions.key(number), lambda n=number: actions.blobs(n)
                )
                assert dict(result.blobs) == actions.blobs(number)
            rounds += 1
        say(f"{rounds} {cache.counters['hits']}")

    children = [fork(lambda say, seed=seed: work(say, seed)) for seed in range(8)]
    hits = 0
    for child in children:
        said = child.join(120)
        assert child.status == 0
        rounds, child_hits = map(int, said[0].split())
        assert rounds > 100
        hits += child_hits
    assert hits > 100
    cache = ActionCache(store, policy=policy)
    cache.evict()
    assert cache.stats().size_bytes <= 400_000
    assert cache.check().is_clean
