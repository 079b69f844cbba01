"""The command `bisect`: its output and its status."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

import explained_models as models
from neuron_compile.cli import main

FILE = Path(models.__file__)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["bisect", *words], env={"NEURON_COMPILE_WORKERS": "0"})


def test_model_that_is_as_eager() -> None:
    result = run(f"{FILE}:make_classifier")
    assert result.exit_code == 0, result.output
    forward, backward = result.output.splitlines()
    assert forward.startswith("Classifier forward (graph ")
    assert "0 of " in forward
    assert "operations depart from eager" in backward


def test_departures_come_with_their_lines_and_a_status() -> None:
    result = run(f"{FILE}:make_classifier", "--auto-cast", "matmult", "--json")
    assert result.exit_code == 1
    forward, _ = json.loads(result.output)
    (found,) = forward["departures"]
    assert found["operator"] == "aten.addmm.default" or "mm" in found["operator"]
    assert found["source"]["text"] == "h = self.norm(self.linear(x)) * scale"


def test_model_without_a_graph_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text("def make():\n    return (lambda: 3), ()\n")
    result = run(f"{file}:make")
    assert result.exit_code == 1
    assert "no graph was captured" in result.output
