"""What the limits are if nobody says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from neuron_compile.workers import limits
from neuron_compile.workers.limits import ActionLimits, default_memory_limit, machine_memory


def test_default_leaves_a_fifth_of_the_machine() -> None:
    assert default_memory_limit() == int(machine_memory() * 0.8)
    assert 0 < machine_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_limit_of_the_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "memory.max"
    monkeypatch.setattr(limits, "_CGROUP_FILES", (str(file), str(tmp_path / "absent")))
    unlimited = machine_memory()
    file.write_text("max\n")
    assert machine_memory() == unlimited
    file.write_text("1000000\n")
    assert default_memory_limit() == 800_000


def test_time_is_limited_and_memory_is_not_by_default() -> None:
    assert ActionLimits() == ActionLimits(None, 600.0)
