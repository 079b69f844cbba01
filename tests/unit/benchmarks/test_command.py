from __future__ import annotations

from pathlib import Path

import pytest

from benchmark_results import entry, results
from benchmarks import command
from benchmarks.plan import Plan
from benchmarks.results import Results


def test_reports_on_earlier_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "results.json"
    results(entry("mlp", "neuron", inference=0.02), entry("mlp", "eager", inference=0.01)).save(
        file
    )
    command.main(["--report", str(file), "--check"])
    printed = capsys.readouterr().out
    assert "| mlp  | inference |" in printed
    assert "falls short   inference, times the best peer: at least 1; mlp has 0.50" in printed


def test_measures_what_is_asked_for_and_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans: list[Plan] = []

    class Interrupted:
        """A runner that is stopped after one entry."""

        def __init__(self, plan: Plan, caches: Path) -> None:
            plans.append(plan)

        def run(self, results: Results) -> None:
            results.entries.append(entry("mlp", "eager", inference=1.0))
            raise KeyboardInterrupt

    monkeypatch.setattr(command, "Runner", Interrupted)
    file = tmp_path / "results.json"
    chosen = [
        "--quick",
        "--only",
        "mlp",
        "--backends",
        "neuron",
        "eager",
        "--rounds",
        "1",
        "--minutes",
        "2",
    ]
    with pytest.raises(KeyboardInterrupt):
        command.main([*chosen, "--minutes", "2", "--results", str(file)])
    (plan,) = plans
    assert (plan.cases, plan.backends, plan.rounds) == (("mlp",), ("neuron", "eager"), 1)
    assert (plan.budget, plan.scale) == (120.0, "quick")
    assert [entry.case for entry in Results.load(file).entries] == ["mlp"]


def test_a_misspelt_case_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--only", "mpl"])
    assert ended.value.code == 2
    assert "invalid choice: 'mpl'" in capsys.readouterr().err
