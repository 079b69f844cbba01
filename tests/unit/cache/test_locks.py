"""Locks of the kernel's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache.locks import holder_of, try_lock

if TYPE_CHECKING:
    from pathlib import Path


def test_a_lock_excludes_until_it_is_released(tmp_path: Path) -> None:
    lock = try_lock(tmp_path / "new" / "lock")
    assert lock is not None
    assert try_lock(lock.path) is None
    lock.release()
    lock.release()
    again = try_lock(lock.path)
    assert again is not None
    again.release()


def test_that_a_lock_file_exists_means_nothing(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("left by a killed process")
    lock = try_lock(tmp_path / "lock")
    assert lock is not None
    lock.release()


def test_a_removed_lock_file_is_not_locked_by_two(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    sweeper = try_lock(path)
    assert sweeper is not None
    waiting = os.open(path, os.O_RDWR)
    sweeper.release(remove=True)
    assert not path.exists()
    first = try_lock(path)
    assert first is not None
    assert os.fstat(waiting).st_ino != path.stat().st_ino
    assert try_lock(path) is None
    first.release()
    os.close(waiting)


def test_a_lock_follows_the_file_at_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    path = tmp_path / "lock"
    real = fcntl.flock
    removed: list[int] = []

    def remove_once(descriptor: int, operation: int) -> None:
        if not removed:
            removed.append(path.stat().st_ino)
            path.unlink()
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", remove_once)
    lock = try_lock(path)
    assert lock is not None
    assert removed
    assert try_lock(path) is None
    lock.release()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "victim")
    with pytest.raises(OSError):
        try_lock(tmp_path / "lock")
    assert (tmp_path / "victim").read_text() == "precious"


def test_the_holder_leaves_word(tmp_path: Path) -> None:
    lock = try_lock(tmp_path / "lock")
    assert lock is not None
    lock.note("GPT2 forward", 1.0)
    assert holder_of(lock.path) == (
        f"process {os.getpid()} on {os.uname().nodename} (GPT2 forward)"
    )
    lock.release()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"pid": "x"}', b"\xff", b"[" * 5000])
def test_an_unreadable_word_is_another_process(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "lock").write_bytes(text)
    assert holder_of(tmp_path / "lock") == "another process"
    assert holder_of(tmp_path / "none") == "another process"
