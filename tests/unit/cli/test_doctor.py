"""`neuron-compile doctor` on a terminal and for programs."""

from __future__ import annotations

import importlib
import json

import pytest
from click.testing import CliRunner

from neuron_compile.cli import main
from neuron_compile.doctor import Diagnosis, Finding, Verdict

GOOD = Finding("packages", "torch", Verdict.OK, "2.13.0")
NOTE = Finding("devices", "libnrt", Verdict.NOTE, "not found [here]", "install it.")
BAD = Finding("check", "matrix product", Verdict.ERROR, "wrong", "ask.")


def answer(
    monkeypatch: pytest.MonkeyPatch, *findings: Finding, args: tuple[str, ...] = ()
) -> tuple[int, str]:
    module = importlib.import_module("neuron_compile.cli.doctor")
    monkeypatch.setattr(module, "diagnose", lambda: Diagnosis(findings))
    result = CliRunner().invoke(main, ["doctor", *args], env={"COLUMNS": "100"})
    return result.exit_code, result.output


def test_table_has_each_finding_with_its_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = answer(monkeypatch, GOOD, NOTE)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "ok torch 2.13.0" in lines
    assert "note libnrt not found [here]" in lines
    assert "Try: install it." in lines
    assert lines[-1] == "The host target works."
    assert status == 0


def test_error_shows_in_status_and_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = answer(monkeypatch, GOOD, BAD)
    assert text.splitlines()[-1] == "1 problem to be solved first."
    assert status == 1


def test_json_is_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = answer(monkeypatch, NOTE, BAD, args=("--json",))
    assert json.loads(text) == Diagnosis((NOTE, BAD)).to_json()
    assert status == 1
