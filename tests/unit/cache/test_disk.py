"""Whole files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import CorruptEntryError, disk

if TYPE_CHECKING:
    from pathlib import Path


def test_a_written_file_is_read_back_with_its_time(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "file"
    disk.write_whole(tmp_path / "tmp", target, b"x" * 100_000, used=1234.5)
    found = disk.read_whole(target, 100_000)
    assert found == (b"x" * 100_000, target.stat().st_ino, 1234.5)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_file_that_is_replaced_is_never_seen_half(tmp_path: Path) -> None:
    target = tmp_path / "file"
    disk.write_whole(tmp_path / "tmp", target, b"old")
    with target.open("rb") as stream:
        disk.write_whole(tmp_path / "tmp", target, b"new")
        assert stream.read() == b"old"
    assert target.read_bytes() == b"new"


def test_a_file_is_synced_before_it_gets_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        order.append("fsync")
        real_fsync(descriptor)

    def replace(source: Path, target: Path) -> None:
        order.append("replace")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    disk.write_whole(tmp_path / "tmp", tmp_path / "file", b"x")
    assert order == ["fsync", "replace"]


def test_a_short_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data[:7])))
    disk.write_whole(tmp_path / "tmp", tmp_path / "file", b"abcdefghij" * 10)
    assert (tmp_path / "file").read_bytes() == b"abcdefghij" * 10


def test_a_failed_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError):
        disk.write_whole(tmp_path / "tmp", tmp_path / "file", b"x")
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("size, largest, is_sound", [(10, 10, True), (11, 10, False), (0, 0, True)])
def test_more_than_expected_is_not_read(
    tmp_path: Path, size: int, largest: int, is_sound: bool
) -> None:
    (tmp_path / "file").write_bytes(b"x" * size)
    if is_sound:
        assert len(disk.read_whole(tmp_path / "file", largest).data) == size
    else:
        with pytest.raises(CorruptEntryError, match="11 bytes where at most 10"):
            disk.read_whole(tmp_path / "file", largest)


def test_putting_back_keeps_what_is_there(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"old")
    disk.put_back(source, target)
    assert (target.read_bytes(), source.exists()) == (b"old", False)
    source.write_bytes(b"other")
    disk.put_back(source, target)
    assert (target.read_bytes(), source.exists()) == (b"old", False)


def test_putting_back_works_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(source: object, target: object, **kwargs: object) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr(os, "link", no_links)
    test_putting_back_keeps_what_is_there(tmp_path)


@pytest.mark.parametrize("mode, made", [(0o700, 0o700), (0o755, 0o755), (0o1777, 0o755)])
def test_directories_are_as_open_as_the_one_above(tmp_path: Path, mode: int, made: int) -> None:
    top = tmp_path / "top"
    top.mkdir()
    top.chmod(mode)
    old = os.umask(0)
    try:
        disk.make_directory(top / "a" / "b")
        disk.make_directory(top / "a" / "b")
    finally:
        os.umask(old)
    for path in (top / "a", top / "a" / "b"):
        assert path.stat().st_mode & 0o777 == made
