"""TORCH_LOGS, counters and the structured trace."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch._dynamo.utils import compile_times, counters

SCRIPT = """
import logging, torch
{before}
torch.compile(lambda x: x.sin() + 1, backend="neuron", dynamic=False)(torch.ones(3))
{after}
"""


def stderr_of(tmp_path: Path, before: str = "", after: str = "", **environment: str) -> str:
    """What a fresh process writes to stderr while it compiles."""
    env = {**os.environ, "NEURON_COMPILE_CACHE_DIR": str(tmp_path / "cache"), **environment}
    script = SCRIPT.format(before=before, after=after)
    done = subprocess.run(
        [sys.executable, "-c", script], env=env, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.multiprocess
@pytest.mark.parametrize("name", ["neuron", "neuron_compile"])
def test_torch_logs_shows_each_stage_once(tmp_path: Path, name: str) -> None:
    # A handler on the root logger is what an application has.
    lines = stderr_of(tmp_path, "logging.basicConfig()", TORCH_LOGS=name).splitlines()
    stages = [line for line in lines if "function inference (graph 0): " in line]
    expected = [
        "import done in", "lower begins", "lower produced in", "codegen for host begins",
        "codegen produced in", "load done in",
    ]  # fmt: skip
    for stage, line in zip(expected, stages, strict=True):
        assert f": {stage}" in line
        assert line.startswith("I")


@pytest.mark.multiprocess
def test_plus_shows_the_graph_at_every_level(tmp_path: Path) -> None:
    text = stderr_of(tmp_path, TORCH_LOGS="+neuron")
    assert "torch.ops.aten.sin.default" in text
    assert "torch.aten.sin" in text
    assert "stablehlo.sine" in text


@pytest.mark.slow
@pytest.mark.multiprocess
def test_nothing_is_written_without_torch_logs_cold_and_warm(tmp_path: Path) -> None:
    assert stderr_of(tmp_path) == ""
    assert stderr_of(tmp_path) == ""


@pytest.mark.slow
@pytest.mark.multiprocess
def test_users_logging_is_left_alone(tmp_path: Path) -> None:
    after = "assert logging.root.handlers == [], logging.root.handlers"
    assert stderr_of(tmp_path, after=after) == ""


@pytest.mark.multiprocess
def test_name_given_to_torch_is_not_importable(tmp_path: Path) -> None:
    code = "import neuron"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert "ModuleNotFoundError: No module named 'neuron'" in done.stderr


@pytest.mark.slow
@pytest.mark.multiprocess
def test_package_of_the_users_with_that_name_comes_first(tmp_path: Path) -> None:
    (tmp_path / "neuron").mkdir()
    (tmp_path / "neuron" / "__init__.py").write_text("mine = True")
    before = "import neuron; assert neuron.mine"
    assert "load done" in stderr_of(tmp_path, before, TORCH_LOGS="neuron", PYTHONPATH=str(tmp_path))


def test_set_logs_at_run_time_is_followed(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("neuron")
    level, handlers = logger.level, list(logger.handlers)
    logger.setLevel(logging.INFO)
    logger.addHandler(caplog.handler)
    try:
        torch.compile(torch.sin, backend="neuron", dynamic=False)(torch.ones(2))
    finally:
        logger.setLevel(level)
        logger.handlers[:] = handlers
    assert "load done" in caplog.text


def test_counters_tell_graphs_by_role_and_what_the_cache_said() -> None:
    counters["neuron"].clear()
    # The second twin's graphs differ in what AOTAutograd's own cache looks at, not in the program.
    for twin in (lambda x, w: (x @ w).sum(), lambda x, w: torch.sum(torch.mm(x, w))):
        torch._dynamo.reset()
        weight = torch.ones(2, 2, requires_grad=True)
        torch.compile(twin, backend="neuron", dynamic=False)(torch.ones(1, 2), weight).backward()
    assert dict(counters["neuron"]) == {
        "graphs": 4,
        "forward_graphs": 2,
        "backward_graphs": 2,
        "lower_produced": 2,
        "codegen_produced": 2,
        "lower_hit": 2,
        "codegen_hit": 2,
    }


def test_dynamos_table_of_times_has_our_stages() -> None:
    torch.compile(lambda x: x * 3, backend="neuron", dynamic=False)(torch.ones(2))
    names, _ = compile_times(repr="csv", aggregate=True)
    assert {"neuron_import", "neuron_lower", "neuron_codegen", "neuron_load"} <= set(names)


@pytest.mark.multiprocess
def test_structured_trace_holds_stablehlo_and_timed_stages(tmp_path: Path) -> None:
    folder = tmp_path / "trace"
    stderr_of(tmp_path, TORCH_TRACE=str(folder))
    (file,) = folder.iterdir()
    text = file.read_text()
    records = [
        json.loads(line[line.index("{") :]) for line in text.splitlines() if line.startswith("V")
    ]
    names = [record["artifact"]["name"] for record in records if "artifact" in record]
    assert any(name.startswith("neuron_stablehlo_inference_") for name in names)
    assert "stablehlo.sine" in text
    assert "neuron_codegen" in text
