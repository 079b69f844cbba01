"""The command `ops`: what it finds, its forms of output, its status."""

from __future__ import annotations

import json

from click.testing import CliRunner, Result

from neuron_compile.cli import main


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["ops", *words], env={"COLUMNS": "200"})


def test_table_of_the_operators_that_are_searched_for() -> None:
    result = run("fft", "hfft")
    assert result.exit_code == 0, result.output
    assert "torch.fft" in result.output
    assert "fft.ihfft2" in result.output
    assert "linalg.qr" not in result.output


def test_json_holds_the_outcomes() -> None:
    (sort,) = [op for op in json.loads(run("sort", "--json").output) if op["name"] == "sort"]
    assert "library" in sort["routes"]
    assert "aten.sort.default" in sort["operators"]
    forward, _backward, right, samples = sort["dtypes"]["float32"]
    assert (forward, right) == ("right", samples)


def test_page_of_some_operators() -> None:
    page = run("--markdown", "linalg.qr").output
    assert page.startswith("# Operators\n")
    assert "\n| `linalg.qr` | " in page


def test_status_of_a_search_in_vain() -> None:
    assert run("no such operator").exit_code == 1
