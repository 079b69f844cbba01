"""What the README promises: its commands, its code, its options, its links."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from neuron_compile.compile_report import HEADINGS, report
from neuron_compile.options import CompileOptions

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[str]:
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return found


def test_two_commands_do_everything() -> None:
    train, test = (block.strip() for block in blocks("sh"))
    for command in (train, test):
        assert "\n" not in command
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -q -e ")
        assert not re.search(r"https?://|index-url", command)
    assert train.endswith(".venv/bin/python examples/train.py")
    assert test.endswith(".venv/bin/pytest -n 2")


def test_continuous_integration_runs_the_second_command_as_written() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    pattern = "command=$(grep --max-count=1 'pytest' README.md)"
    assert pattern in script
    first_line = next(line for line in README.splitlines() if "pytest" in line)
    assert first_line == blocks("sh")[1].strip()


def test_code_runs_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks("python")
    before = len(report().graphs)
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "Sequential" in printed
    assert {row.role for row in report().graphs[before:] if row.model == "Sequential"} == {
        "forward",
        "backward",
    }


def test_options_are_all_there_with_their_defaults() -> None:
    rows = re.findall(r"^\| `(\w+)` \| .+? \| (.*?) \| .+? \|$", README, re.MULTILINE)
    documented = {name: default.strip().strip("`").strip('"') for name, default in rows}
    expected: dict[str, Any] = {
        field.name: str(field.default) for field in dataclasses.fields(CompileOptions)
    }
    assert documented == expected


def test_heading_of_the_report_is_the_one_that_is_explained() -> None:
    explained = re.findall(r"^\| ([a-z, ]+) \| (?!values|default)", README, re.MULTILINE)
    columns = {name.strip() for cell in explained for name in cell.split(",")} - {"column"}
    assert columns == set(HEADINGS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.slow
@pytest.mark.multiprocess
def test_example_trains_and_shows_where_the_neffs_are(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "train.py", "--steps", "11"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    losses = re.findall(r"^ +\d+ +(\d\.\d+) +(\d\.\d+) ", done.stdout, re.MULTILINE)
    assert len(losses) == 2
    for eager, compiled in losses:
        assert float(compiled) == pytest.approx(float(eager), rel=1e-4)
    assert float(losses[1][0]) < float(losses[0][0])
    neffs = re.findall(r"^NEFF: (.+) \([\d,]+ bytes\)$", done.stdout, re.MULTILINE)
    assert len(neffs) == 2
    assert all(Path(neff).is_file() for neff in neffs)
    assert "SmallGPT  backward" in done.stdout
    assert done.stderr == ""
