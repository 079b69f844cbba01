"""Waiting, with a clock moved by sleeping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache.locks import try_lock
from neuron_compile.cache.turns import Turns

if TYPE_CHECKING:
    from pathlib import Path


class _Time:
    def __init__(self) -> None:
        self.now = 0.0
        self.events: dict[float, object] = {}

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds
        for due in [due for due in self.events if due <= self.now]:
            self.events.pop(due)()  # type: ignore[operator]


def _turns(directories: list[Path], limit: float, time: _Time, told: list[str]) -> Turns:
    return Turns(directories, limit, told.append, monotonic=time, sleep=time.sleep)


def test_a_free_turn_is_taken_at_once_and_given_back(tmp_path: Path) -> None:
    time = _Time()
    told: list[str] = []
    with _turns([tmp_path / "a", tmp_path / "b"], 10, time, told).take("key", "graph") as turn:
        assert (turn.timed_out, turn.failures, turn.waited_seconds) == (False, [], 0.0)
        assert try_lock(tmp_path / "a" / "key") is None
        assert try_lock(tmp_path / "b" / "key") is None
    for name in ("a", "b"):
        lock = try_lock(tmp_path / name / "key")
        assert lock is not None
        lock.release()
    assert told == []


def test_a_turn_is_given_back_when_the_work_fails(tmp_path: Path) -> None:
    turns = _turns([tmp_path], 10, _Time(), [])
    with pytest.raises(ValueError, match="boom"), turns.take("key", "graph"):
        raise ValueError("boom")
    with turns.take("key", "graph") as turn:
        assert not turn.timed_out


def test_who_waits_long_says_so_after_five_seconds_and_then_by_the_minute(tmp_path: Path) -> None:
    time = _Time()
    told: list[str] = []
    lock = try_lock(tmp_path / "key")
    assert lock is not None
    lock.note("GPT2 forward", 0.0)
    time.events[130.0] = lock.release
    with _turns([tmp_path], 600, time, told).take("key", "GPT2 forward") as turn:
        assert not turn.timed_out
        assert 130 <= turn.waited_seconds < 131
    assert [message.rpartition(": ")[2] for message in told] == [
        "5 s so far",
        "65 s so far",
        "125 s so far",
    ]
    assert all("GPT2 forward" in message and "process" in message for message in told)


@pytest.mark.parametrize("limit", [0.0, 7.0])
def test_past_the_limit_the_work_goes_on_without_the_turn(tmp_path: Path, limit: float) -> None:
    time = _Time()
    told: list[str] = []
    lock = try_lock(tmp_path / "key")
    assert lock is not None
    with _turns([tmp_path], limit, time, told).take("key", "graph") as turn:
        assert turn.timed_out
    assert time.now == pytest.approx(limit)
    assert "now producing it here too" in told[-1]
    lock.release()


def test_a_directory_that_cannot_be_locked_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    directories = [tmp_path / "file" / "below", tmp_path / "good"]
    with _turns(directories, 10, _Time(), []).take("key", "graph") as turn:
        assert len(turn.failures) == 1
        assert try_lock(tmp_path / "good" / "key") is None
