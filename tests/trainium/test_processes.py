"""Whole training scripts against the stand-in compiler: warmed, raced, interrupted, killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.multiprocess

# A training step, an evaluation, and a last batch of another size.
SCRIPT = """
import json, os, sys
import torch
from torch._dynamo.utils import counters
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.1), torch.nn.Linear(8, 2))
options = json.loads(sys.argv[1])
compiled = torch.compile(model, backend="neuron", dynamic=False, options=options)
for batch in (6, 6, 5):
    compiled(torch.randn(batch, 4)).sum().backward()
compiled.eval()
compiled(torch.randn(6, 4)).sum().backward()
with torch.no_grad():
    result = compiled(torch.ones(6, 4))
print(json.dumps([result.sum().item(), counters["neuron"]["graphs"]]))
"""
GRAPHS = 7
OPTIONS = '{"target": "trn2", "execute": "host"}'


@pytest.fixture
def start(compiler: Any, tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)

    def run(options: str = OPTIONS, **environment: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, script, options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        )

    return run


def finish(process: subprocess.Popen[str]) -> str:
    out, said = process.communicate(timeout=240)
    assert process.returncode == 0, said
    return out


def await_call(calls: Any) -> None:
    deadline = time.monotonic() + 120
    while not calls():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def folders(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "scratch").glob("neuronx-cc-*"))


def await_no_folders(tmp_path: Path) -> None:
    deadline = time.monotonic() + 20
    while folders(tmp_path):
        assert time.monotonic() < deadline, "the compiler's folder was left behind"
        time.sleep(0.05)


@pytest.mark.slow
def test_job_uses_what_a_warm_up_with_other_means_has_made(
    start: Callable[..., subprocess.Popen[str]], calls: Any
) -> None:
    warm_up = finish(start())
    assert len(calls()) == GRAPHS
    job = finish(start("{}", TORCH_NEURONX_COMPILE_ONLY=1, NEURON_PLATFORM_TARGET_OVERRIDE="trn2"))
    assert len(calls()) == GRAPHS
    assert job.split(",")[0] == warm_up.split(",")[0]


@pytest.mark.slow
def test_job_compiles_nothing_after_the_warm_up_command(
    start: Callable[..., subprocess.Popen[str]], calls: Any, tmp_path: Path
) -> None:
    """Forward, backward, evaluation, without gradients, and the last batch of another size."""
    command = str(Path(sys.executable).with_name("neuron-compile"))
    warm_up = subprocess.run(
        [command, "warmup", str(tmp_path / "train.py"), "--", OPTIONS],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert warm_up.returncode == 0, warm_up.stderr
    assert len(calls()) == GRAPHS
    finish(start("{}", TORCH_NEURONX_COMPILE_ONLY=1, NEURON_PLATFORM_TARGET_OVERRIDE="trn2"))
    assert len(calls()) == GRAPHS


@pytest.mark.slow
def test_four_ranks_at_once_compile_each_graph_once(
    start: Callable[..., subprocess.Popen[str]], calls: Any, tmp_path: Path
) -> None:
    ranks = [start(STAND_IN_DELAY=1) for _ in range(4)]
    results = {finish(rank) for rank in ranks}
    assert len(results) == 1
    assert len(calls()) == GRAPHS
    await_no_folders(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ended_job_leaves_nothing_and_the_next_one_compiles(
    start: Callable[..., subprocess.Popen[str]], calls: Any, tmp_path: Path, number: int
) -> None:
    job = start(STAND_IN_DELAY=120)
    await_call(calls)
    job.send_signal(number)
    job.communicate(timeout=60)
    assert job.returncode != 0
    await_no_folders(tmp_path)
    finish(start())
    await_no_folders(tmp_path)


@pytest.mark.slow
def test_job_that_waits_for_a_killed_one_goes_on(
    start: Callable[..., subprocess.Popen[str]], calls: Any
) -> None:
    first = start(STAND_IN_DELAY=120)
    await_call(calls)
    second = start()
    assert second.stderr is not None
    word = second.stderr.readline()
    assert f"waiting for process {first.pid}" in word
    assert len(calls()) == 1
    first.send_signal(signal.SIGKILL)
    first.communicate()
    finish(second)
    assert len(calls()) == 1 + GRAPHS
