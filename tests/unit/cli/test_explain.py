"""The command `explain`: its argument, its forms of output, its status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import explained_models as models
from neuron_compile.cache import ActionCache
from neuron_compile.cli import main

FILE = Path(models.__file__)


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["explain", *words], env={"NEURON_COMPILE_WORKERS": "0"})


def test_text_and_page_of_a_model_that_is_fine(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = run(f"{FILE}:make_classifier", "--target", "trn2", "--html", str(page))
    assert result.exit_code == 0, result.output
    assert result.output.startswith("Classifier can be compiled for trn2.")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_json_and_status_of_one_that_is_not() -> None:
    result = run(f"{FILE}:make_factorizer", "--target=trn2", "--json")
    assert result.exit_code == 1
    assert json.loads(result.output)["is_ok"] is False


MODEL = """
import torch

LIBRARY = torch.library.Library("explain_command_tests", "FRAGMENT")
for name in ("cube", "negate", "halve"):
    LIBRARY.define(f"{name}(Tensor x) -> Tensor")
    LIBRARY.impl(name, lambda x: x + 1, "CPU")
    torch.library.register_fake(f"explain_command_tests::{name}", torch.empty_like, lib=LIBRARY)
OPERATORS = torch.ops.explain_command_tests

def model(x):
    a = OPERATORS.cube(x)
    b = OPERATORS.negate(a.sin())
    return OPERATORS.halve(b) + 1

def make_model():
    return model, (torch.ones(3),)
"""


def test_operations_at_three_lines_are_listed_and_no_code_is_generated(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(MODEL)
    result = run(f"{file}:make_model", "--json")
    assert result.exit_code == 1, result.output
    (graph,) = json.loads(result.output)["graphs"]
    found = [
        (failure["operator"], failure["source"]["line"], failure["source"]["text"])
        for failure in graph["failures"]
    ]
    assert sorted(found, key=lambda place: place[1]) == [
        ("explain_command_tests.cube.default", 12, "a = OPERATORS.cube(x)"),
        ("explain_command_tests.negate.default", 13, "b = OPERATORS.negate(a.sin())"),
        ("explain_command_tests.halve.default", 14, "return OPERATORS.halve(b) + 1"),
    ]
    assert list(ActionCache(tmp_path / "neuron-cache").entries()) == []


@pytest.mark.parametrize(
    "place,said",
    [
        (f"{FILE}", "is not FILE.py:FUNCTION"),
        ("/nowhere.py:f", "is not FILE.py:FUNCTION"),
        (f"{FILE}:absent", "has no function absent"),
        (f"{FILE}:make_nothing", "must return (model, args)"),
    ],
)
def test_wrong_place_is_a_usage_error(place: str, said: str) -> None:
    result = run(place)
    assert result.exit_code == 2
    assert said in result.output
