"""A warmed cache suffices for a process in another folder, another environment, another hash seed;
and torch's own cache artifacts carry it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

import neuron_compile
from neuron_compile import cache, lowering

PROGRAM = """
import json, sys
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 6), nn.Dropout(0.5), nn.GELU(), nn.Linear(6, 2))
compiled = torch.compile(model, backend="neuron", dynamic=False)
if "load" in sys.argv:
    loaded = torch.compiler.load_cache_artifacts(open(sys.argv[2], "rb").read())
losses = []
for size in (4, 4, 3):
    loss = compiled(torch.ones(size, 8)).square().sum()
    loss.backward()
    losses.append(loss.item())
with torch.no_grad():
    losses.append(compiled(torch.ones(3, 8)).sum().item())
if "save" in sys.argv:
    data, _ = torch.compiler.save_cache_artifacts()
    open(sys.argv[2], "wb").write(data)

from torch._dynamo.utils import counters

neuron = counters["neuron"]
print(json.dumps({
    "losses": losses,
    "produced": neuron["lower_produced"] + neuron["codegen_produced"],
    "traced": neuron["graphs"],
    "workers": "neuron_compile.workers.launch" in sys.modules,
}))
"""

pytestmark = pytest.mark.multiprocess


class Place:
    """A folder with the program, and the environment that it is run in."""

    def __init__(self, folder: Path, **environment: str) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.environment = {**os.environ, **environment}
        (folder / "train.py").write_text(PROGRAM)

    def run(self, *arguments: str, python: str = sys.executable) -> Any:
        """What the program printed."""
        done = self._start([python, "train.py", *arguments])
        return json.loads(done.stdout.splitlines()[-1])

    def warm(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run `neuron-compile warmup`."""
        start = "from neuron_compile.cli import main; main()"
        return self._start([sys.executable, "-c", start, "warmup", *options, "train.py"])

    def _start(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done


def environment_of_its_own(folder: Path) -> str:
    """The interpreter of a virtual environment with its own copy of the package."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    copied = packages / "neuron_compile"
    shutil.copytree(Path(neuron_compile.__file__).parent, copied)
    for module in (lowering, cache):
        source = Path(module.__file__ or "").parent
        shutil.copytree(source, copied / source.name, dirs_exist_ok=True)
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return str(folder / "bin" / "python")


def test_a_warmed_cache_suffices_elsewhere(tmp_path: Path) -> None:
    here = Place(tmp_path / "here", PYTHONHASHSEED="1")
    assert "compiled Sequential backward" in here.warm("--jobs", "1").stderr
    there = Place(
        tmp_path / "far" / "away",
        PYTHONHASHSEED="2",
        NEURON_COMPILE_REQUIRE_CACHE="1",
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "none"),
    )
    found = there.run(python=environment_of_its_own(tmp_path / "environment"))
    assert found["produced"] == 0
    assert found["traced"] == 5
    # With what torch keeps beside it, nothing is traced either.
    here.environment["NEURON_COMPILE_REQUIRE_CACHE"] = "1"
    again = here.run()
    assert again == {**found, "traced": 0}


def test_torchs_cache_artifacts_carry_everything(tmp_path: Path) -> None:
    def place(name: str, **environment: str) -> Place:
        folders = {
            "NEURON_COMPILE_CACHE_DIR": str(tmp_path / name / "neuron"),
            "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / name / "torch"),
        }
        return Place(tmp_path / name / "program", **folders, **environment)

    artifacts = str(tmp_path / "artifacts")
    saved = place("first").run("save", artifacts)
    loaded = place("second", NEURON_COMPILE_REQUIRE_CACHE="1").run("load", artifacts)
    assert saved["produced"] > 0
    assert loaded["losses"] == saved["losses"]
    assert loaded["produced"] == loaded["traced"] == 0
