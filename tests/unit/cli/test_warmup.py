"""`neuron-compile warmup`, in the calling process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result

from neuron_compile.cli import main
from neuron_compile.warmup.compile_jobs import compile_jobs

PROGRAM = """
import sys
import torch

f = torch.compile(lambda x: (x * 2).sum(), backend="neuron", dynamic=False)
for _ in range(2):
    f(torch.ones(2, requires_grad=True)).backward()
print("arguments", sys.argv[1:])
if "fail" in sys.argv:
    raise ValueError("after two graphs")
"""

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "executors.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def threads():\n    return ThreadPoolExecutor(1)\n"
    )
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        torch._dynamo.reset()
        return CliRunner().invoke(main, list(arguments))

    return invoke


def test_fills_the_cache_once(run: Run) -> None:
    first = run("warmup", "--jobs", "1", "train.py", "--", "--steps", "2")
    assert first.exit_code == 0, first.output
    assert "arguments ['--steps', '2']" in first.stdout
    assert "2 graphs: 0 cached, 2 to compile" in first.stderr
    assert "[2/2] compiled" in first.stderr
    assert "Not seen:" in first.stdout
    second = run("warmup", "train.py")
    assert second.exit_code == 0
    assert "2 graphs: 2 cached, 0 to compile" in second.stderr
    assert "compiling" not in second.stderr


def test_keys_are_those_that_are_compiled(run: Run) -> None:
    planned = json.loads(run("key", "--json", "train.py").stdout.partition("\n")[2])
    dry = run("warmup", "--dry-run", "--json", "train.py")
    assert dry.exit_code == 0
    assert {graph["state"] for graph in planned} == {"waiting"}
    done = run("warmup", "--jobs", "1", "--json", "--executor", "executors:threads", "train.py")
    result = json.loads(done.stdout.partition("\n")[2])
    assert [g["key"] for g in result["graphs"]] == [g["key"] for g in planned]
    assert {graph["state"] for graph in result["graphs"]} == {"compiled"}
    printed = run("key", "train.py").stdout
    assert all(graph["key"] in printed for graph in planned)


def test_a_program_that_fails(run: Run) -> None:
    done = run("warmup", "--jobs", "1", "train.py", "--", "fail")
    assert done.exit_code == 1
    assert "ValueError: after two graphs" in done.stderr
    assert "[2/2] compiled" in done.stderr


def test_a_graph_that_fails(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_COMPILE_REQUIRE_CACHE", "1")
    done = run("warmup", "train.py")
    assert done.exit_code == 1
    assert "FAILED" in done.stderr
    assert "is not in the cache" in done.stdout


def test_an_interruption(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"{compile_jobs.__module__}.compile_jobs", interrupt)
    done = run("warmup", "train.py")
    assert done.exit_code == 130
    assert "run it again to go on" in done.stderr
    assert "waiting" in done.stdout


def test_what_is_no_program(run: Run) -> None:
    done = run("warmup", "gone.py")
    assert done.exit_code == 1
    assert "gone.py cannot be run" in done.output
