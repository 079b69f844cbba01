"""A warmed cache suffices for a process in another folder, another environment, another hash seed;
and torch's own cache artifacts carry it."""

from __future__ import annotations

from pathlib import Path

import pytest

from elsewhere import Place, environment_of_its_own

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
    "compilers": sorted({"torch_mlir", "neuron_compile.lowering.library.trace"} & set(sys.modules)),
}))
"""

pytestmark = pytest.mark.multiprocess


@pytest.mark.slow
def test_a_warmed_cache_suffices_elsewhere(tmp_path: Path) -> None:
    here = Place(tmp_path / "here", PROGRAM, PYTHONHASHSEED="1")
    assert "compiled Sequential backward" in here.warm("--jobs", "1").stderr
    there = Place(
        tmp_path / "far" / "away",
        PROGRAM,
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
    assert again == {**found, "traced": 0, "compilers": []}


@pytest.mark.slow
def test_torchs_cache_artifacts_carry_everything(tmp_path: Path) -> None:
    def place(name: str, **environment: str) -> Place:
        folders = {
            "NEURON_COMPILE_CACHE_DIR": str(tmp_path / name / "neuron"),
            "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / name / "torch"),
        }
        return Place(tmp_path / name / "program", PROGRAM, **folders, **environment)

    artifacts = str(tmp_path / "artifacts")
    saved = place("first").run("save", artifacts)
    loaded = place("second", NEURON_COMPILE_REQUIRE_CACHE="1").run("load", artifacts)
    assert saved["produced"] > 0
    assert loaded["losses"] == saved["losses"]
    assert loaded["produced"] == loaded["traced"] == 0
    # What a warm start does without is not loaded. (jaxlib has the XLA that runs code, and loads
    # jax when it is given the first tensor.)
    assert "torch_mlir" in saved["compilers"]
    assert loaded["compilers"] == []
