"""Every call into the file system failing in every way: the right answer, one warning, nothing half
done.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import ActionCache, CachePolicy, CacheWarning, Limits, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cache_actors import Actions

_CALLS = {
    "open": (os, "open"),
    "read": (os, "read"),
    "write": (os, "write"),
    "fsync": (os, "fsync"),
    "replace": (os, "replace"),
    "rename": (os, "rename"),
    "mkdir": (os, "mkdir"),
    "utime": (os, "utime"),
    "unlink": (os, "unlink"),
    "link": (os, "link"),
    "stat": (os, "stat"),
    "fstat": (os, "fstat"),
    "scandir": (os, "scandir"),
    "lock": (fcntl, "flock"),
}
_ERRORS = ["ENOENT", "EACCES", "EROFS", "ENOSPC", "EDQUOT", "ESTALE", "EIO", "EINTR", "EBUSY"]


@contextmanager
def _failing(call: str, error: str, times: int = 10**9) -> Iterator[list[int]]:
    """Inside, the first `times` calls of one kind fail; the list counts them."""
    module, name = _CALLS[call]
    real = getattr(module, name)
    failed: list[int] = []

    def fail(*args: object, **kwargs: object) -> object:
        if len(failed) >= times:
            return real(*args, **kwargs)
        failed.append(1)
        code = getattr(errno, error)
        raise OSError(code, os.strerror(code))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, name, fail)
        yield failed


@contextmanager
def _warned() -> Iterator[list[str]]:
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    messages += [str(warning.message) for warning in caught]
    assert all(warning.category is CacheWarning for warning in caught), messages


@pytest.mark.parametrize("error", _ERRORS)
@pytest.mark.parametrize("call", _CALLS)
def test_a_call_that_always_fails_costs_one_warning_at_most(
    store: Path, tmp_path: Path, actions: Actions, call: str, error: str
) -> None:
    policy = CachePolicy(
        locks_directory=tmp_path / "locks", wait_seconds=0.05, limits=Limits(max_bytes=20_000)
    )
    day = [1.0e9]
    sound = ActionCache(store, policy=policy, clock=lambda: day[0])
    for number in range(3):
        sound.get_or_produce(actions.key(number), actions.producer(number))
    day[0] += 86_400  # so that reading touches
    cache = ActionCache(store, policy=policy, clock=lambda: day[0], on_wait=lambda _: None)
    with _warned() as messages, _failing(call, error):
        for number in (0, 5, 6, 5):
            result = cache.get_or_produce(actions.key(number), actions.producer(number))
            assert dict(result.blobs) == actions.blobs(number)
        blobs = cache.get(actions.key(1))
        assert blobs is None or dict(blobs) == actions.blobs(1)
        cache.explain_miss(actions.key(9))
        cache.stats()
    assert len(messages) <= 1, messages
    audit = sound.check()
    assert audit.is_clean, audit.problems
    result = sound.get_or_produce(actions.key(7), actions.producer(7))
    assert result.outcome is Outcome.PRODUCED
    sound.evict()
    assert sound.check().abandoned == 0
    for number in (0, 1, 2, 5, 6, 7):
        blobs = sound.get(actions.key(number))
        assert blobs is None or dict(blobs) == actions.blobs(number)


@pytest.mark.parametrize(
    "call, error", [("replace", "ENOENT"), ("replace", "ESTALE"), ("open", "ESTALE")]
)
def test_what_passes_on_a_network_file_system_is_tried_again(
    store: Path, tmp_path: Path, actions: Actions, call: str, error: str
) -> None:
    cache = ActionCache(store, policy=CachePolicy(locks_directory=tmp_path / "locks"))
    cache.get_or_produce(actions.key(0), actions.producer(0))
    with _warned() as messages, _failing(call, error, times=1) as failed:
        result = cache.get_or_produce(actions.key(1), actions.producer(1))
    assert failed
    assert not messages
    assert result.outcome is Outcome.PRODUCED
    assert cache.get(actions.key(1)) is not None


def test_failing_to_clean_up_after_publishing_does_not_undo_it(
    store: Path, tmp_path: Path, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks")
    cache = ActionCache(store, policy=policy)
    with _failing("unlink", "EBUSY"), _failing("utime", "EACCES"):
        result = cache.get_or_produce(actions.key(1), actions.producer(1))
    assert result.outcome is Outcome.PRODUCED
    assert ActionCache(store, policy=policy).get(actions.key(1)) is not None


def test_the_directory_removed_while_in_use_is_made_anew(
    store: Path, tmp_path: Path, actions: Actions
) -> None:
    cache = ActionCache(store, policy=CachePolicy(locks_directory=tmp_path / "locks"))
    cache.get_or_produce(actions.key(1), actions.producer(1))
    shutil.rmtree(store)
    with _warned() as messages:
        again = cache.get_or_produce(actions.key(1), actions.producer(1))
        hit = cache.get_or_produce(actions.key(1), actions.producer(1))
    assert (again.outcome, hit.outcome) == (Outcome.PRODUCED, Outcome.HIT)
    assert not messages


def test_a_file_where_the_directory_should_be_costs_one_warning(
    tmp_path: Path, actions: Actions
) -> None:
    place = tmp_path / "file"
    place.write_bytes(b"in the way")
    cache = ActionCache(place, policy=CachePolicy(locks_directory=tmp_path / "locks"))
    with _warned() as messages:
        for number in (1, 2):
            result = cache.get_or_produce(actions.key(number), actions.producer(number))
            assert result.outcome is Outcome.UNCACHED
            assert dict(result.blobs) == actions.blobs(number)
    assert len(messages) == 1
    assert place.read_bytes() == b"in the way"


def test_a_full_disk_costs_one_warning_and_leaves_no_file(
    store: Path, tmp_path: Path, actions: Actions
) -> None:
    cache = ActionCache(store, policy=CachePolicy(locks_directory=tmp_path / "locks"))
    with _warned() as messages, _failing("write", "ENOSPC"):
        results = [
            cache.get_or_produce(actions.key(number), actions.producer(number))
            for number in range(3)
        ]
    assert [result.outcome for result in results] == [Outcome.UNCACHED] * 3
    assert len(messages) == 1
    assert "No space left on device" in messages[0]
    assert list((store / "tmp").iterdir()) == []
    assert cache.counters["uncached"] == 3


@pytest.mark.parametrize("jump", [-10 * 365 * 86_400.0, 10 * 365 * 86_400.0, float(2**31)])
def test_a_clock_that_jumps_loses_nothing(
    store: Path, tmp_path: Path, actions: Actions, jump: float
) -> None:
    now = [1.7e9]
    policy = CachePolicy(
        locks_directory=tmp_path / "locks", limits=Limits(max_bytes=1 << 20, max_entries=50)
    )
    cache = ActionCache(store, policy=policy, clock=lambda: now[0])
    cache.get_or_produce(actions.key(1), actions.producer(1))
    now[0] += jump
    cache.get_or_produce(actions.key(2), actions.producer(2))
    cache.evict()
    now[0] -= jump
    for number in (1, 2):
        result = cache.get_or_produce(actions.key(number), dict)
        assert result.outcome is Outcome.HIT
    assert cache.check().is_clean


def test_reading_only_writes_nothing_at_all(store: Path, tmp_path: Path, actions: Actions) -> None:
    day = [1.0e9]
    policy = CachePolicy(locks_directory=tmp_path / "locks")
    ActionCache(store, policy=policy, clock=lambda: day[0]).get_or_produce(
        actions.key(1), actions.producer(1)
    )
    (store / "cas").joinpath("junk").write_bytes(b"")
    before = {path: path.lstat().st_mtime_ns for path in store.rglob("*")}
    day[0] += 86_400
    reader = ActionCache(
        store,
        policy=CachePolicy(read_only=True, locks_directory=tmp_path / "other"),
        clock=lambda: day[0],
    )
    assert reader.get_or_produce(actions.key(1), dict).outcome is Outcome.HIT
    missed = reader.get_or_produce(actions.key(2), actions.producer(2))
    assert missed.outcome is Outcome.UNCACHED
    reader.explain_miss(actions.key(3))
    reader.stats()
    assert reader.check().is_clean
    assert {path: path.lstat().st_mtime_ns for path in store.rglob("*")} == before
    assert not (tmp_path / "other").exists()
