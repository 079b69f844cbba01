"""Writers killed with SIGKILL at every step: nothing wrong is read, nothing published is lost."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import random
import signal
import time
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import ActionCache, CacheError, CachePolicy, Limits, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cache_actors import Actions, Fork, Say

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

    def write(descriptor: int, data: bytes) -> int:
        return real(descriptor, bytes(data[:1000]))

    setattr(os, "write", write)  # noqa: B010 - the signature of the real one is wider


def test_a_writer_killed_at_each_step_leaves_all_or_nothing(
    tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks")

    def write(say: Say, store: Path, step: int, after: bool) -> None:
        cache = ActionCache(store, policy=policy)
        _half_write()
        _die_at(step, after=after)
        cache.get_or_produce(actions.key(4), actions.producer(4))
        say("published")

    step = 0
    status: int | None = None
    while status != 0:
        step += 1
        for after in (False, True):
            store = tmp_path / f"store-{step}-{after}"
            cache = ActionCache(store, policy=policy)
            cache.get_or_produce(actions.key(0), actions.producer(0))
            child = fork(functools.partial(write, store=store, step=step, after=after))
            said = child.join()
            status = child.status
            assert status in (0, -signal.SIGKILL)
            audit = cache.check()
            assert audit.is_clean, (step, after, audit.problems)
            assert dict(cache.get(actions.key(0)) or {}) == actions.blobs(0)
            result = cache.get_or_produce(actions.key(4), actions.producer(4))
            assert dict(result.blobs) == actions.blobs(4)
            if said:
                assert result.outcome is Outcome.HIT
            cache.check(repair=True)
            assert not list((store / "tmp").iterdir())
    assert step > 25, "a publication has more steps than that"


@pytest.mark.parametrize("rounds", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_seeded_rounds_of_processes_killed_at_random(
    tmp_path: Path, fork: Fork, actions: Actions, rounds: int
) -> None:
    store = tmp_path / "store"
    policy = CachePolicy(locks_directory=tmp_path / "locks", wait_seconds=60)
    published: set[int] = set()
    killed = 0

    def work(say: Say, seed: str) -> None:
        choice = random.Random(seed)
        cache = ActionCache(store, policy=policy)
        _half_write()
        _die_at(choice.randrange(1, 160), after=choice.random() < 0.5)
        for _ in range(4):
            number = choice.randrange(400)
            result = cache.get_or_produce(actions.key(number), actions.producer(number))
            assert dict(result.blobs) == actions.blobs(number)
            say(str(number))

    for round_ in range(rounds):
        children = [
            fork(functools.partial(work, seed=f"{round_} {process}")) for process in range(3)
        ]
        for child in children:
            published.update(int(line) for line in child.join())
            assert child.status in (0, -signal.SIGKILL), f"wrong bytes or an error in {round_}"
            killed += child.status != 0
    assert killed > rounds
    assert len(published) > rounds / 2
    cache = ActionCache(store, policy=policy)
    audit = cache.check()
    assert audit.is_clean, audit.problems
    for number in published:
        assert dict(cache.get(actions.key(number)) or {}) == actions.blobs(number)
    cache.check(repair=True)
    assert cache.check().abandoned == 0


def test_an_evictor_killed_at_each_step_leaves_a_sound_store(
    tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks")

    def evict(say: Say, store: Path, step: int) -> None:
        cache = ActionCache(store, policy=policy)
        _die_at(step, after=False)
        cache.evict(Limits(max_bytes=0))

    step = 0
    status: int | None = None
    while status != 0:
        step += 1
        store = tmp_path / f"store-{step}"
        cache = ActionCache(store, policy=policy)
        for number in range(4):
            cache.get_or_produce(actions.key(number), actions.producer(number))
        held = cache.get(actions.key(3))
        child = fork(functools.partial(evict, store=store, step=step))
        child.join()
        status = child.status
        assert status in (0, -signal.SIGKILL)
        again = ActionCache(store, policy=policy)
        audit = again.check()
        assert audit.is_clean, (step, audit.problems)
        assert dict(again.get(actions.key(3)) or {}) == dict(held or {}) == actions.blobs(3)
        again.evict()
        assert list((store / "evicted").glob("*")) == []
    assert step > 20
    assert [entry.key for entry in again.entries()] == [actions.key(3).digest]


@pytest.mark.slow
def test_eight_processes_under_a_small_limit_for_a_minute(
    tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    store = tmp_path / "store"
    limits = Limits(max_bytes=400_000)
    policy = CachePolicy(locks_directory=tmp_path / "locks", limits=limits, wait_seconds=60)

    def work(say: Say, seed: int) -> None:
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
                with contextlib.suppress(CacheError):  # another one is at it
                    cache.evict(Limits(max_bytes=choice.randrange(100_000, 400_000)))
            else:
                result = cache.get_or_produce(actions.key(number), actions.producer(number))
                assert dict(result.blobs) == actions.blobs(number)
            rounds += 1
        say(f"{rounds} {cache.counters['hits']}")

    children = [fork(functools.partial(work, seed=seed)) for seed in range(8)]
    hits = 0
    for child in children:
        said = child.join(120)
        assert child.status == 0
        rounds, child_hits = map(int, said[0].split())
        assert rounds > 100
        hits += child_hits
    assert hits > 100
    cache = ActionCache(store, policy=policy)
    audit = cache.check()
    assert audit.is_clean, audit.problems
    cache.evict()
    assert cache.stats().size_bytes <= 400_000
    assert cache.check().is_clean
