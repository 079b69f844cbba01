"""The misses that are remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_compile.cache.history import History, Miss
from neuron_compile.cache.key import KeyPart

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _miss(number: int) -> Miss:
    return Miss(
        float(number), f"{number:064x}", "test", f"graph {number}", (KeyPart.of("a", b"x"),)
    )


def test_the_latest_come_first(tmp_path: Path) -> None:
    history = History(tmp_path / "history")
    for number in range(5):
        history.add(_miss(number))
    assert list(History(tmp_path / "history").latest(2)) == [_miss(4), _miss(3)]


def test_the_file_stays_small_and_keeps_the_latest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_compile.cache.history._LARGEST", 2000)
    history = History(tmp_path)
    for number in range(100):
        history.add(_miss(number))
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 5000
    assert history.latest(1) == [_miss(99)]
    assert len(history.latest(10)) == 10


def test_damage_is_passed_over(tmp_path: Path) -> None:
    history = History(tmp_path)
    history.add(_miss(1))
    with (tmp_path / "misses").open("ab") as stream:
        stream.write(b"\xff\n[1,2]\n{}\n" + b"[" * 5000 + b'\n[1,"x","k","w",[]]\n')
    assert history.latest(9) == [_miss(1)]


def test_nothing_fails_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    history = History(tmp_path / "file" / "below")
    history.add(_miss(1))
    assert history.latest(1) == []
