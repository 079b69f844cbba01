"""What a look-up takes no part in, and what a publication shows to others before it is whole."""

from __future__ import annotations

import fcntl
import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from neuron_compile.cache import (
    ActionCache,
    CacheMissError,
    CachePolicy,
    CacheWarning,
    Limits,
    Outcome,
    collector,
)
from neuron_compile.cache.digests import is_digest
from neuron_compile.cache.eviction import choose_victims
from neuron_compile.cache.locks import HeldLock, try_lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cache_actors import Actions


def _never() -> dict[str, bytes]:
    raise AssertionError("this should have come from the cache")


def _no_wait(message: str) -> None:
    raise AssertionError(message)


@pytest.fixture
def policy(tmp_path: Path) -> CachePolicy:
    """Whoever waits, waits for longer than a test may take."""
    return CachePolicy(locks_directory=tmp_path / "locks", wait_seconds=600)


@pytest.fixture
def busy(store: Path, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Takes every lock that there is for a key, and that of collections, as another process may."""
    held: list[HeldLock | None] = []

    def hold(key: str) -> None:
        folders = (store / "locks", tmp_path / "locks")
        paths = (store / "locks" / "collection", *(folder / key for folder in folders))
        held.extend(map(try_lock, paths))
        assert None not in held

    yield hold
    for lock in held:
        if lock is not None:
            lock.release()


# --- Reading ---


def test_a_hit_waits_for_no_lock(
    store: Path, policy: CachePolicy, actions: Actions, busy: Callable[[str], None]
) -> None:
    ActionCache(store, policy=policy).get_or_produce(actions.key(1), actions.producer(1))
    busy(actions.key(1).digest)
    cache = ActionCache(store, policy=policy, on_wait=_no_wait)
    assert cache.get(actions.key(1)) is not None
    assert cache.get_or_produce(actions.key(1), _never).outcome is Outcome.HIT
    assert cache.present([actions.key(1)]) == {actions.key(1).digest}


def test_a_hit_locks_nothing_that_others_would_wait_for(
    store: Path, policy: CachePolicy, actions: Actions, monkeypatch: pytest.MonkeyPatch
) -> None:
    ActionCache(store, policy=policy).get_or_produce(actions.key(1), actions.producer(1))
    cache = ActionCache(store, policy=policy)
    locked: list[Path] = []
    real = fcntl.flock

    def flock(descriptor: int, operation: int) -> None:
        locked.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    for _ in range(3):
        assert cache.get_or_produce(actions.key(1), _never).outcome is Outcome.HIT
    # A process marks the file of what it holds as its own; nobody waits for that.
    assert {path.parent for path in locked} <= {store / "leases"}


def test_a_miss_where_a_hit_is_required_waits_for_nobody(
    store: Path, policy: CachePolicy, tmp_path: Path, actions: Actions, busy: Callable[[str], None]
) -> None:
    ActionCache(store, policy=policy).get_or_produce(actions.key(1), actions.producer(1))
    busy(actions.key(2).digest)
    strict = CachePolicy(locks_directory=tmp_path / "locks", wait_seconds=600, require_cache=True)
    cache = ActionCache(store, policy=strict, on_wait=_no_wait)
    with pytest.raises(CacheMissError, match="graph 2 is not in the cache"):
        cache.get_or_produce(actions.key(2), _never, what="graph 2")
    assert cache.counters["wait_timeouts"] == 0


def test_temporary_files_of_others_are_never_looked_at(
    store: Path, policy: CachePolicy, actions: Actions
) -> None:
    cache = ActionCache(store, policy=policy)
    cache.get_or_produce(actions.key(1), actions.producer(1))
    for name in (actions.key(2).digest, f"{actions.key(2).digest}.tmp", "7.140.tmp"):
        (store / "tmp" / name).write_bytes(b"half an ent")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.get(actions.key(2)) is None
        assert [entry.key for entry in cache.entries()] == [actions.key(1).digest]
        assert cache.get_or_produce(actions.key(2), actions.producer(2)).outcome is Outcome.PRODUCED
        assert cache.check().is_clean


# --- Publishing ---


def test_where_look_ups_go_there_are_never_any_but_whole_files(
    store: Path, policy: CachePolicy, actions: Actions, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = ActionCache(store, policy=policy)
    looks: list[str] = []
    is_looking = False

    def look(step: str) -> None:
        nonlocal is_looking
        if is_looking:
            return
        is_looking = True
        looks.append(step)
        names = [path.name for folder in ("ac", "cas") for path in (store / folder).glob("*/*")]
        assert all(map(is_digest, names)), names
        assert ActionCache(store, policy=policy).check().is_clean
        is_looking = False

    def watch(name: str) -> None:
        real = getattr(os, name)

        def call(*args: object, **named: object) -> object:
            result = real(*args, **named)
            look(name)
            return result

        monkeypatch.setattr(os, name, call)

    for name in ("open", "write", "fsync", "replace"):
        watch(name)
    cache.get_or_produce(actions.key(1), actions.producer(1))
    monkeypatch.undo()
    assert {"open", "write", "fsync", "replace"} <= set(looks)
    assert len(looks) > 9
    assert cache.get(actions.key(1)) == actions.blobs(1)


def test_what_was_just_published_is_not_read_back(
    store: Path, policy: CachePolicy, actions: Actions, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace

    def replace(source: Path, target: Path) -> None:
        real(source, target)
        os.truncate(target, 3)  # as a network file system may show it for a while

    cache = ActionCache(store, policy=policy)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(os, "replace", replace)
        result = cache.get_or_produce(actions.key(1), actions.producer(1))
        monkeypatch.setattr(os, "replace", real)
    assert result.outcome is Outcome.PRODUCED
    assert dict(result.blobs) == actions.blobs(1)
    with pytest.warns(CacheWarning, match="set aside"):
        assert cache.get(actions.key(1)) is None


def test_an_entry_is_a_file_and_one_for_each_blob_that_is_new(
    store: Path, policy: CachePolicy, actions: Actions
) -> None:
    cache = ActionCache(store, policy=policy)
    counts = []
    for number in (0, 1, 4):  # 4 shares a blob with 0
        cache.get_or_produce(actions.key(number), actions.producer(number))
        kept = [path for path in store.rglob("*") if path.is_file() and len(path.name) == 64]
        counts.append(len([path for path in kept if path.parent.parent.name in ("ac", "cas")]))
    assert counts == [3, 6, 8]
    for path in store.rglob("*"):
        assert path.is_dir() or path.stat().st_mode & 0o111 == 0, "nothing need be executable"


# --- Collecting ---


@pytest.mark.parametrize("gone", ["actions", "blobs", "everything"])
def test_entries_that_vanish_after_the_choice_are_no_trouble(
    store: Path, policy: CachePolicy, actions: Actions, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    cache = ActionCache(store, policy=policy)
    for number in range(6):
        cache.get_or_produce(actions.key(number), actions.producer(number))
    folders = {"actions": ["ac"], "blobs": ["cas"], "everything": ["ac", "cas"]}[gone]

    def choose(*args: Any, **named: Any) -> Any:
        victims = choose_victims(*args, **named)
        for folder in folders:
            for path in (store / folder).rglob("*"):
                if path.is_file():
                    path.unlink()
        return victims

    monkeypatch.setattr(collector, "choose_victims", choose)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.evict(Limits(max_bytes=0))
    monkeypatch.undo()
    assert cache.check(repair=True).is_clean
    for number in range(6):
        assert cache.get(actions.key(number)) is None
        assert dict(
            cache.get_or_produce(actions.key(number), actions.producer(number)).blobs
        ) == actions.blobs(number)
