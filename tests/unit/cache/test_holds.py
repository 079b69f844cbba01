"""Leases."""

from __future__ import annotations

import gc
import os
import threading
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from cache_actors import Child, Say
from neuron_compile.cache.holds import Holds

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

_A, _B = "a" * 64, "b" * 64


def test_a_hold_is_seen_by_others_while_its_blobs_live(tmp_path: Path) -> None:
    mine, other = Holds(tmp_path, is_recording=True), Holds(tmp_path, is_recording=True)
    blobs = mine.blobs({"a": b"1"}, mine.take(_A))
    again = mine.blobs({"a": b"1"}, mine.take(_A))
    assert other.everybody() == {_A}
    del blobs
    assert other.everybody() == {_A}
    del again
    assert other.everybody() == mine.everybody() == set()


def test_a_store_that_is_gone_leaves_no_file_open_or_behind(tmp_path: Path) -> None:
    def opened() -> set[str]:
        links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        return {path for path in map(os.path.realpath, links) if path.startswith(str(tmp_path))}

    holds = Holds(tmp_path, is_recording=True)
    blobs = holds.blobs({"a": b"1"}, holds.take(_A))
    del holds
    assert len(opened()) == 1
    assert Holds(tmp_path, is_recording=True).everybody() == {_A}  # by what is read from it
    del blobs
    gc.collect()
    assert opened() == set()
    assert list(tmp_path.iterdir()) == []


def test_a_lease_without_a_living_owner_is_removed(tmp_path: Path) -> None:
    (tmp_path / "123-dead").write_text(f"+1 {_A}\n")
    assert Holds(tmp_path, is_recording=True).everybody() == set()
    assert list(tmp_path.iterdir()) == []


def test_a_full_lease_is_begun_anew_with_what_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_compile.cache.holds._LARGEST_LEASE", 200)
    mine, other = Holds(tmp_path, is_recording=True), Holds(tmp_path, is_recording=True)
    kept = mine.blobs({}, mine.take(_A))
    for _ in range(50):
        mine.let_go(mine.take(_B))
    assert other.everybody() == {_A}
    (lease,) = tmp_path.iterdir()
    assert lease.stat().st_size < 400
    assert len(kept) == 0


def test_lines_that_make_no_sense_are_passed_over(tmp_path: Path) -> None:
    mine, other = Holds(tmp_path, is_recording=True), Holds(tmp_path, is_recording=True)
    mine.take(_A)
    (lease,) = tmp_path.iterdir()
    with lease.open("ab") as stream:
        stream.write(b"+2 nonsense\n-77\n\xff\xfe\n\n+3 " + _B.encode() + b"\n+4 " + b"c" * 30)
    assert other.everybody() == {_A, _B}


def test_nothing_is_written_when_not_recording_or_not_possible(tmp_path: Path) -> None:
    quiet = Holds(tmp_path / "quiet", is_recording=False)
    quiet.take(_A)
    assert not (tmp_path / "quiet").exists()
    (tmp_path / "file").write_bytes(b"")
    blocked = Holds(tmp_path / "file" / "below", is_recording=True)
    blobs = blocked.blobs({"a": b"1"}, blocked.take(_A))
    assert dict(blobs) == {"a": b"1"}


def test_held_blobs_are_an_ordinary_mapping(tmp_path: Path) -> None:
    holds = Holds(tmp_path, is_recording=True)
    blobs = holds.blobs({"a": b"1", "b": b"22"}, holds.take(_A))
    assert blobs == {"a": b"1", "b": b"22"}
    assert list(blobs) == ["a", "b"]
    assert len(blobs) == 2
    assert repr(blobs) == "HeldBlobs(a: 1 bytes, b: 2 bytes)"


def test_threads_that_take_and_drop_while_leases_change_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_compile.cache.holds._LARGEST_LEASE", 500)
    mine, other = Holds(tmp_path, is_recording=True), Holds(tmp_path, is_recording=True)
    kept: list[object] = []

    def run(letter: str) -> None:
        for number in range(150):
            blobs = mine.blobs({}, mine.take(letter * 64))
            if number == 70:
                kept.append(blobs)
        kept.append(mine.blobs({}, mine.take(letter * 63 + "0")))

    threads = [threading.Thread(target=run, args=(letter,)) for letter in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = {letter * 64 for letter in "abcdef"} | {letter * 63 + "0" for letter in "abcdef"}
    assert other.everybody() == everything
    kept.clear()
    assert other.everybody() == set()


def test_a_forked_child_holds_for_itself_and_lets_nothing_of_its_parent_go(tmp_path: Path) -> None:
    mine, other = Holds(tmp_path, is_recording=True), Holds(tmp_path, is_recording=True)
    blobs = mine.blobs({}, mine.take(_A))

    def run(say: Say) -> None:
        nonlocal blobs
        del blobs
        held = mine.blobs({}, mine.take(_B))
        say("holding")
        threading.Event().wait()
        assert held is None

    child = Child(run)
    child.wait_for("holding")
    assert other.everybody() == {_A, _B}
    child.kill()
    child.join()
    assert other.everybody() == {_A}
    del blobs
    assert other.everybody() == set()


def test_a_lease_renewed_while_it_is_looked_for_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = Holds(tmp_path, is_recording=True), Holds(tmp_path, is_recording=True)
    kept = mine.blobs({}, mine.take(_A))
    real = Path.iterdir
    listings: list[int] = []

    def iterdir(path: Path) -> Iterator[Path]:
        found = list(real(path))
        listings.append(len(found))
        if len(listings) == 1:
            monkeypatch.setattr("neuron_compile.cache.holds._LARGEST_LEASE", 1)
            mine.let_go(mine.take(_B))  # begins a new lease and removes the one just listed
            monkeypatch.setattr("neuron_compile.cache.holds._LARGEST_LEASE", 10_000)
        return iter(found)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    assert other.everybody() == {_A}
    assert len(kept) == 0


def test_a_forked_child_sees_what_its_parent_has_taken_since(tmp_path: Path) -> None:
    mine = Holds(tmp_path, is_recording=True)
    before = mine.blobs({}, mine.take(_A))
    going, go = os.pipe()

    def look(say: Say) -> None:
        os.read(going, 1)
        for key in sorted(mine.everybody()):
            say(key)

    child = Child(look)
    since = mine.blobs({}, mine.take(_B))
    os.write(go, b".")
    assert child.join() == [_A, _B]
    assert len(before) == len(since) == 0
    os.close(going)
    os.close(go)


def test_another_thread_may_have_told_what_this_one_let_go(tmp_path: Path) -> None:
    class Contended(deque[int]):
        """Whoever has looked at it is overtaken by a thread that takes everything."""

        def __len__(self) -> int:
            length = super().__len__()
            self.clear()
            return length

        def __bool__(self) -> bool:
            return len(self) > 0

    mine = Holds(tmp_path, is_recording=True)
    mine._let_go = Contended()
    mine.let_go(mine.take(_A))
    assert mine.everybody() == set()


def test_a_thread_caught_by_a_renewal_writes_to_the_new_lease(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = (
        Holds(tmp_path / "leases", is_recording=True),
        Holds(tmp_path / "leases", is_recording=True),
    )
    kept = mine.blobs({}, mine.take(_A))
    old = mine._lease
    assert old is not None
    monkeypatch.setattr("neuron_compile.cache.holds._LARGEST_LEASE", 1)
    more = mine.blobs({}, mine.take(_B))
    with (tmp_path / "stranger").open("wb"):
        old.append(f"+77 {'c' * 64}\n")  # as one does that had looked for room a moment before
    assert (tmp_path / "stranger").read_bytes() == b""
    assert other.everybody() == {_A, _B, "c" * 64}
    assert len(kept) == len(more) == 0


def test_a_descriptor_that_was_closed_and_is_another_files_now_is_left_alone(
    tmp_path: Path,
) -> None:
    mine, other = (
        Holds(tmp_path / "leases", is_recording=True),
        Holds(tmp_path / "leases", is_recording=True),
    )
    kept = mine.blobs({}, mine.take(_A))
    lease = mine._lease
    assert lease is not None
    with (tmp_path / "stranger").open("wb", buffering=0) as stranger:
        os.dup2(stranger.fileno(), lease._descriptor)  # as closing all and opening others would
        more = mine.blobs({}, mine.take(_B))
        assert other.everybody() == {_A, _B}
        del more
        assert other.everybody() == {_A}
    assert (tmp_path / "stranger").read_bytes() == b""
    os.close(lease._descriptor)
    assert len(kept) == 0
