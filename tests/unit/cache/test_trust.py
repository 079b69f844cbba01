"""Whose directories are trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import CacheWarning, CorruptEntryError, Outcome, UntrustedDirectoryError
from neuron_compile.cache.trust import Judge, check_trusted

if TYPE_CHECKING:
    from pathlib import Path

    from cache_actors import MakeCache, MakeKey


def _made(path: Path, mode: int) -> Path:
    path.mkdir()
    path.chmod(mode)
    return path


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o750])
def test_ones_own_directory_is_trusted(tmp_path: Path, mode: int) -> None:
    check_trusted(_made(tmp_path / "cache", mode))
    check_trusted(tmp_path / "cache" / "not" / "there" / "yet")


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o1777])
def test_one_that_everybody_can_write_is_not(tmp_path: Path, mode: int) -> None:
    with pytest.raises(UntrustedDirectoryError, match="every user"):
        check_trusted(_made(tmp_path / "cache", mode))


def test_one_below_a_directory_that_everybody_can_write_is_not(tmp_path: Path) -> None:
    parent = _made(tmp_path / "open", 0o777)
    with pytest.raises(UntrustedDirectoryError, match="open can be written"):
        check_trusted(_made(parent / "cache", 0o700))
    parent.chmod(0o1777)
    check_trusted(parent / "cache")


def test_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    _made(tmp_path / "open", 0o777)
    (tmp_path / "cache").symlink_to(tmp_path / "open")
    with pytest.raises(UntrustedDirectoryError):
        check_trusted(tmp_path / "cache")


def test_another_users_directory_is_not_trusted_and_roots_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _made(tmp_path / "cache", 0o755)
    owner = tmp_path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 4242)
    if owner == 0:
        check_trusted(tmp_path / "cache")
        os.chown(tmp_path / "cache", 1234, -1)
    with pytest.raises(UntrustedDirectoryError, match="belongs to user"):
        check_trusted(tmp_path / "cache")


def test_a_group_with_other_members_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = _made(tmp_path / "cache", 0o770)
    monkeypatch.setattr("neuron_compile.cache.trust._is_private_group", lambda group, user: False)
    with pytest.raises(UntrustedDirectoryError, match="by the group"):
        check_trusted(cache)
    monkeypatch.setattr("neuron_compile.cache.trust._is_private_group", lambda group, user: True)
    check_trusted(cache)


def test_folders_of_it_are_judged_too(tmp_path: Path) -> None:
    cache = _made(tmp_path / "cache", 0o755)
    check_trusted(cache, cache / "ac", cache / "not there")
    _made(cache / "ac", 0o777)
    with pytest.raises(UntrustedDirectoryError, match="ac can be written by every user"):
        check_trusted(cache, cache / "ac")
    _made(_made(tmp_path / "open", 0o777) / "cas", 0o755)
    (cache / "cas").symlink_to(tmp_path / "open" / "cas")
    with pytest.raises(UntrustedDirectoryError, match="open can be written by every user"):
        check_trusted(cache, cache / "cas")


def test_a_file_that_others_can_write_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x")
    path.chmod(0o644)
    Judge().check_file(path.stat())
    path.chmod(0o646)
    with pytest.raises(CorruptEntryError, match="every user"):
        Judge().check_file(path.stat())
    path.chmod(0o644)
    status = path.stat()
    other = os.stat_result((status.st_mode, 1, 1, 1, 4242, *status[5:]))
    with pytest.raises(CorruptEntryError, match="belongs to user 4242"):
        Judge().check_file(other)


def test_a_folder_is_looked_at_until_it_is_sound(tmp_path: Path) -> None:
    judge = Judge()
    shard = _made(tmp_path / "shard", 0o777)
    for _ in range(2):
        with pytest.raises(UntrustedDirectoryError, match="every user"):
            judge.check_folder(shard)
    shard.chmod(0o755)
    judge.check_folder(shard)
    (tmp_path / "link").symlink_to(shard)
    with pytest.raises(UntrustedDirectoryError, match="link"):
        judge.check_folder(tmp_path / "link")


# --- Stores ---


@pytest.mark.parametrize("folder", ["ac", "cas", "tmp", "evicted"])
def test_a_store_with_an_open_folder_is_not_served_unless_allowed(
    make: MakeCache, key: MakeKey, store: Path, folder: str
) -> None:
    make().get_or_produce(key(), lambda: {"a": b"1"})
    (store / folder).mkdir(exist_ok=True)
    (store / folder).chmod(0o777)
    with pytest.warns(CacheWarning, match=f"{folder} can be written by every user"):
        cache = make()
    assert cache.get(key()) is None
    assert cache.get_or_produce(key(), lambda: {"a": b"1"}).outcome is Outcome.UNCACHED
    assert make(allow_shared=True).get(key()) == {"a": b"1"}


@pytest.mark.parametrize("folder", ["ac", "cas"])
def test_an_open_shard_ends_the_use_of_the_store(
    make: MakeCache, key: MakeKey, store: Path, folder: str
) -> None:
    make().get_or_produce(key(), lambda: {"a": b"1"})
    (shard,) = (store / folder).iterdir()
    shard.chmod(0o777)
    cache = make()
    with pytest.warns(CacheWarning, match="can be written by every user") as caught:
        assert cache.get(key()) is None
    assert len(caught) == 1
    assert str(shard) in cache.problem
    assert next(shard.iterdir()).exists()
    assert make(allow_shared=True).get(key()) == {"a": b"1"}


@pytest.mark.parametrize("folder", ["ac", "cas"])
def test_a_file_that_others_can_write_is_a_miss_and_made_anew(
    make: MakeCache, key: MakeKey, store: Path, folder: str
) -> None:
    make().get_or_produce(key(), lambda: {"a": b"1"})
    (path,) = (path for path in (store / folder).rglob("*") if path.is_file())
    path.chmod(0o666)
    assert make(allow_shared=True).get(key()) == {"a": b"1"}
    cache = make()
    assert [problem.file.partition("/")[0] for problem in cache.check().problems][:1] == [folder]
    with pytest.warns(CacheWarning, match="can be written by every user; set aside"):
        result = cache.get_or_produce(key(), lambda: {"a": b"1"})
    assert result.outcome is Outcome.PRODUCED
    assert make().get(key()) == {"a": b"1"}
    assert path.stat().st_mode & 0o022 == 0


def test_files_are_nobody_elses_to_write_whatever_the_umask(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    old = os.umask(0)
    try:
        make().get_or_produce(key(), lambda: {"a": b"1"})
    finally:
        os.umask(old)
    files = [path for name in ("ac", "cas") for path in (store / name).rglob("*/*")]
    assert [path.stat().st_mode & 0o777 for path in files] == [0o644, 0o644]
    assert make().get(key()) == {"a": b"1"}


def test_a_directory_that_another_user_made_in_between_is_not_written(
    make: MakeCache, key: MakeKey, store: Path
) -> None:
    cache = make()
    _made(store, 0o777)
    with pytest.warns(CacheWarning, match="can be written by every user"):
        result = cache.get_or_produce(key(), lambda: {"a": b"1"})
    assert result.outcome is Outcome.UNCACHED
    assert not (store / "ac").exists()
