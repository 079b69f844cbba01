"""Running the user's program."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from neuron_compile.errors import OptionsError
from neuron_compile.warmup.program import command_line, named, program

SCRIPT = """
import sys
from pathlib import Path
import beside
assert __name__ == "__main__"
def main():
    Path(beside.__file__).with_name("seen").write_text(" ".join(sys.argv[1:]))
if __name__ == "__main__" and "only-import" not in sys.argv:
    main()
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "beside.py").write_text("def steps():\n    return 3\n")
    (tmp_path / "train.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    return tmp_path / "train.py"


def test_a_script_runs_as_the_main_program(script: Path) -> None:
    before = (sys.argv[:], sys.path[:])
    with command_line(str(script), ["--steps", "2"]):
        program(str(script))()
    assert script.with_name("seen").read_text() == "--steps 2"
    assert (sys.argv, sys.path) == before


def test_a_function_of_the_current_folder(script: Path) -> None:
    with command_line("beside:steps", []):
        program("beside:steps")()
        assert named("beside:steps")() == 3


@pytest.mark.parametrize("target", ["gone.py", "module"])
def test_what_cannot_be_run(target: str) -> None:
    with pytest.raises(OptionsError, match="cannot be run"):
        program(target)


@pytest.mark.parametrize("name", ["no_such_module:f", "os:no_such_function", ":f", "gone.py:main"])
def test_what_cannot_be_found(name: str) -> None:
    with pytest.raises(OptionsError, match="cannot be found"):
        named(name)
