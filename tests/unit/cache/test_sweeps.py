"""What processes left that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_compile.cache.locks import try_lock
from neuron_compile.cache.sweeps import sweep_locks, sweep_temporary

if TYPE_CHECKING:
    from pathlib import Path


def test_files_of_living_writers_stay_and_abandoned_ones_go(tmp_path: Path) -> None:
    (tmp_path / "abandoned").write_bytes(b"x")
    lock = try_lock(tmp_path / "living")
    assert lock is not None
    assert sweep_temporary(tmp_path) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["living"]
    lock.release()


def test_lock_files_idle_for_a_day_go_unless_held(tmp_path: Path) -> None:
    held = try_lock(tmp_path / "held")
    assert held is not None
    (tmp_path / "idle").write_bytes(b"")
    written = held.path.stat().st_mtime
    sweep_locks(tmp_path, written + 3600)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["held", "idle"]
    sweep_locks(tmp_path, written + 90_000)
    assert [path.name for path in tmp_path.iterdir()] == ["held"]
    held.release()
