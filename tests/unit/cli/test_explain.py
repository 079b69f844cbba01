"""The command `explain`: its argument, its forms of output, its status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import explained_models as models
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
