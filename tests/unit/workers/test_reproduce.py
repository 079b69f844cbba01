"""The command that runs a reproducer again."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_compile.workers.reproduce import main


def test_folder_without_a_reproducer_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "missing")]) == 2
    assert "missing" in capsys.readouterr().out
