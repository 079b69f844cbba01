"""`neuron-compile key`, in the calling process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from neuron_compile.cli import main
from neuron_compile.cli.key import key

PROGRAM = """
import sys
import torch

{name} = torch.compile(lambda x: x * {factor}, backend="neuron", dynamic=False)
with torch.no_grad():
    {name}(torch.ones(2))
if "fail" in sys.argv:
    raise ValueError("after a graph")
"""


def keys(folder: Path, name: str = "f", factor: float = 2.0) -> list[str]:
    folder.mkdir()
    script = folder / f"{name}.py"
    script.write_text(PROGRAM.format(name=name, factor=factor))
    torch._dynamo.reset()
    printed = CliRunner().invoke(main, ["key", str(script)])
    assert printed.exit_code == 0
    return [line.split()[0] for line in printed.stdout.splitlines()]


def test_keys_hold_values_and_no_names_or_places(tmp_path: Path) -> None:
    (one,) = keys(tmp_path / "a")
    assert keys(tmp_path / "b", name="g") == [one]
    assert keys(tmp_path / "c", factor=3.0) != [one]
    assert len(one) == 64


def test_prints_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.py").write_text(PROGRAM.format(name="f", factor=2.0))
    monkeypatch.chdir(tmp_path)
    (graph,) = json.loads(CliRunner().invoke(key, ["--json", "f.py"]).stdout)
    assert graph["inputs"] == ["float32[2]"]
    assert graph["state"] == "waiting"


def test_a_program_that_fails(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text(PROGRAM.format(name="f", factor=2.0))
    done = CliRunner().invoke(key, [str(tmp_path / "f.py"), "fail"])
    assert done.exit_code == 1
    assert "after a graph" in done.stderr
    assert len(done.stdout.split()[0]) == 64
