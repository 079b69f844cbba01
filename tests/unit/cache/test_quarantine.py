"""How long evidence is kept."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from neuron_compile.cache import quarantine

if TYPE_CHECKING:
    from pathlib import Path


def _put(directory: Path, name: str, at: float, size: int = 1) -> None:
    path = directory / name
    path.write_bytes(b"")
    os.truncate(path, size)
    os.utime(path, (at, at))


def test_a_week_is_kept(tmp_path: Path) -> None:
    _put(tmp_path, "old", 0.0)
    _put(tmp_path, "young", 1000.0)
    assert quarantine.sweep(tmp_path, quarantine.KEEP_SECONDS + 500) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["young"]


def test_the_newest_64_are_kept(tmp_path: Path) -> None:
    for number in range(70):
        _put(tmp_path, f"{number:02}", float(number))
    assert quarantine.sweep(tmp_path, 100.0) == 6
    assert sorted(path.name for path in tmp_path.iterdir())[0] == "06"


def test_no_more_than_256_mib_are_kept(tmp_path: Path) -> None:
    for number in range(4):
        _put(tmp_path, str(number), float(number), 100 << 20)
    quarantine.sweep(tmp_path, 100.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2", "3"]


def test_no_quarantine_is_nothing_to_do(tmp_path: Path) -> None:
    assert quarantine.sweep(tmp_path / "none", 0.0) == 0
