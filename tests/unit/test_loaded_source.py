"""The lowering's files may change under a running process."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuron_compile import actions, loaded_source
from neuron_compile.lowering import TorchProgram

PROGRAM = TorchProgram("module {}", ())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "a.py").write_text("x = 1")
    monkeypatch.setattr(loaded_source, "_FOLDER", tmp_path)
    monkeypatch.setattr(loaded_source, "_AT_IMPORT", loaded_source.source_state(tmp_path))
    return tmp_path


def test_key_of_unchanged_source_is_everybodys(folder: Path) -> None:
    (folder / "part" / "notes.txt").touch()
    assert actions.loaded_tools() == actions.lowering_tools()


@pytest.mark.parametrize("change", ["edit", "add", "remove"])
def test_key_of_changed_source_is_this_processs_own(folder: Path, change: str) -> None:
    before, tag = actions.lower_key(PROGRAM), actions.loaded_tools()
    if change == "edit":
        (folder / "part" / "a.py").write_text("x = 22")
    elif change == "add":
        (folder / "b.py").touch()
    else:
        (folder / "part" / "a.py").unlink()
    after = actions.lower_key(PROGRAM)
    (mark,) = set(after) - set(before)
    assert len(mark[1]) == 32
    assert set(actions.loaded_tools()) - set(tag) == {mark}
    # What workers are asked by stays that of the files: they are of the new ones.
    assert mark not in actions.lowering_tools()
