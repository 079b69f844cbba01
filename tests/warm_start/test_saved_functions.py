"""A function compiled ahead of time and saved in a file: loaded by who has no model to trace."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters

from neuron_compile.cache import ActionCache


def loss(x: Tensor, w: Tensor) -> Tensor:
    return (x @ w).tanh().square().sum()


def arguments() -> tuple[Tensor, Tensor]:
    return torch.linspace(-1, 1, 6).view(2, 3), torch.full((3, 2), 0.3, requires_grad=True)


def trained(function: Any) -> list[Tensor]:
    x, w = arguments()
    result = function(x, w)
    result.backward()
    assert w.grad is not None
    return [result.detach(), w.grad]


def save(file: Path) -> None:
    function = torch.compile(loss, backend="neuron", dynamic=False, fullgraph=True)
    function.aot_compile((arguments(), {})).save_compiled_function(str(file))  # type: ignore[attr-defined]


def load(file: Path) -> Any:
    torch._dynamo.reset()
    counters.clear()
    return torch.compiler.load_compiled_function(io.BytesIO(file.read_bytes()))


def test_training_step_is_loaded_without_tracing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "step")
    # Nobody has run it: what the backward pass needs was compiled to be saved.
    entries = ActionCache(tmp_path / "neuron-cache").entries()
    assert sorted(entry.kind for entry in entries) == ["codegen", "codegen", "lower", "lower"]
    monkeypatch.setenv("NEURON_COMPILE_REQUIRE_CACHE", "1")
    torch.testing.assert_close(trained(load(tmp_path / "step")), trained(loss))
    assert counters["neuron"]["graphs"] == 0
    assert counters["stats"]["unique_graphs"] == 0
    assert (counters["neuron"]["lower_hit"], counters["neuron"]["codegen_hit"]) == (2, 2)


def test_other_arguments_are_refused(tmp_path: Path) -> None:
    save(tmp_path / "step")
    function = load(tmp_path / "step")
    with pytest.raises(RuntimeError, match="GuardManager check failed"):
        function(torch.ones(5, 3), arguments()[1])


def test_file_without_its_artifacts_is_refused_at_once(tmp_path: Path) -> None:
    save(tmp_path / "step")
    shutil.rmtree(tmp_path / "neuron-cache")
    with pytest.raises(Exception, match="forward is not in the cache"):
        load(tmp_path / "step")


PROGRAM = """
import sys, torch

with open(sys.argv[1], "rb") as file:
    step = torch.compiler.load_compiled_function(file)
x, w = torch.linspace(-1, 1, 6).view(2, 3), torch.full((3, 2), 0.3, requires_grad=True)
loss = step(x, w)
loss.backward()
torch.save([loss.detach(), w.grad], sys.argv[2])
print("torch_mlir" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.multiprocess
def test_another_process_has_the_same_numbers_without_torch_mlir(tmp_path: Path) -> None:
    save(tmp_path / "step")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "step", tmp_path / "numbers"],
        capture_output=True,
        text=True,
        env={**os.environ, "NEURON_COMPILE_REQUIRE_CACHE": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "False\n"
    torch.testing.assert_close(torch.load(tmp_path / "numbers"), trained(loss))
