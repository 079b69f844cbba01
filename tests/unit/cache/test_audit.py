"""What an audit finds and mends. Damage is in test_action_cache, crashes are in tests/cache."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cache_actors import giving
from neuron_compile.cache import audit as audits
from neuron_compile.cache.digests import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cache_actors import Clock, MakeCache, MakeKey


def test_an_empty_and_a_sound_store_are_clean(make: MakeCache, key: MakeKey) -> None:
    cache = make()
    assert cache.check().is_clean
    cache.get_or_produce(key(), lambda: {"a": b"1"})
    audit = cache.check()
    assert (audit.actions, audit.blobs, audit.problems, audit.foreign) == (1, 1, [], [])


def test_orphan_blobs_are_kept_while_they_may_belong_to_a_publication(
    make: MakeCache, store: Path, clock: Clock
) -> None:
    path = store / "cas" / digest_of(b"orphan")[:2] / digest_of(b"orphan")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"orphan")
    clock.now = path.stat().st_mtime + 60
    cache = make()
    audit = cache.check(repair=True)
    assert (audit.is_clean, audit.orphan_blobs, audit.repaired) == (True, 1, 0)
    clock.now += 3600
    assert cache.check().orphan_blobs == 1
    assert cache.check(repair=True).repaired == 1
    assert not path.exists()


def test_repairing_sets_damage_aside_and_drops_actions_that_lost_a_blob(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    cache.get_or_produce(key(1), lambda: {"a": b"1"})
    cache.get_or_produce(key(2), lambda: {"a": b"2"})
    blob = store / "cas" / digest_of(b"1")[:2] / digest_of(b"1")
    blob.write_bytes(b"x")
    found = cache.check()
    assert [problem.file.partition("/")[0] for problem in found.problems] == ["cas", "ac"]
    assert blob.exists(), "looking changes nothing"
    repaired = cache.check(repair=True)
    assert repaired.repaired == 2
    again = cache.check()
    assert again.is_clean
    assert (again.actions, again.blobs) == (1, 1)
    assert len(list((store / "quarantine").iterdir())) == 1


def _meanwhile(
    monkeypatch: pytest.MonkeyPatch, publish: Callable[[], object], *, after: str
) -> None:
    """Let another process `publish` once, when a step of the audit has ended."""
    real = getattr(audits, after)
    left = [publish]

    def step(*args: Any, **named: Any) -> Any:
        result = real(*args, **named)
        if left:
            left.pop()()
        return result

    monkeypatch.setattr(audits, after, step)


def test_repairing_spares_a_blob_that_is_published_again_meanwhile(
    make: MakeCache, key: MakeKey, store: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, other = make(), make()
    cache.get_or_produce(key(1), giving(a=b"1"))
    (store / "ac" / key(1).digest[:2] / key(1).digest).unlink()
    clock.now += 7200
    _meanwhile(
        monkeypatch,
        lambda: other.get_or_produce(key(2), giving(a=b"1")),
        after="_check_actions",
    )
    assert cache.check(repair=True).repaired == 0
    assert other.get(key(2)) == {"a": b"1"}
    assert cache.check().is_clean


def test_repairing_spares_an_entry_that_is_published_again_meanwhile(
    make: MakeCache, key: MakeKey, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, other = make(), make()
    cache.get_or_produce(key(1), giving(a=b"1"))
    (store / "cas" / digest_of(b"1")[:2] / digest_of(b"1")).unlink()
    _meanwhile(monkeypatch, lambda: other.get_or_produce(key(1), giving(a=b"1")), after="_has")
    assert cache.check(repair=True).repaired == 0
    assert other.get(key(1)) == {"a": b"1"}
    assert cache.check().is_clean
