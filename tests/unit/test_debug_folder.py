"""What each graph looked like between the stages, in files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import torch

from fx_graphs import capture
from neuron_compile.artifact.neff import unpack_neff
from neuron_compile.cache import ActionCache
from neuron_compile.debug_folder import DebugFolder
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.observe import Stage, StageEvent

FILES = {
    *("fx.txt", "torch.mlir", "stablehlo.mlir", "program.json", "manifest.json", "neff"),
    "key.txt",
}


def test_cold_and_warm_runs_leave_the_same_files_with_the_same_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = []
    for run in ("cold", "warm"):
        monkeypatch.setenv("NEURON_COMPILE_DEBUG_DIR", str(tmp_path / run))
        torch._dynamo.reset()
        module = torch.nn.Linear(16, 8)
        compiled = torch.compile(module, backend="neuron", dynamic=False)
        compiled(torch.ones(16, 16)).sum().backward()
        folders = sorted(
            (tmp_path / run).iterdir(), key=lambda folder: folder.name.split("_", 2)[2]
        )
        assert [f.name.split("_", 2)[2] for f in folders] == ["Linear_backward", "Linear_forward"]
        assert all(f.name.startswith(f"{os.getpid()}_") for f in folders)
        contents.append([{f.name: f.read_bytes() for f in folder.iterdir()} for folder in folders])
    cold, warm = contents
    assert [set(files) for files in cold] == [FILES, FILES]
    for name in FILES - {"fx.txt"}:
        assert [files[name] for files in cold] == [files[name] for files in warm]
    _, forward = cold
    assert b"torch.ops.aten.addmm" in forward["fx.txt"] or b"aten.mm" in forward["fx.txt"]
    assert b"stablehlo.dot_general" in forward["stablehlo.mlir"]
    assert json.loads(forward["manifest.json"])["target"] == "host"
    assert unpack_neff(forward["neff"]).is_host
    entries = {entry.key: entry for entry in ActionCache(tmp_path / "neuron-cache").entries()}
    assert entries[forward["key.txt"].decode().strip()].what.startswith("lower of Linear forward")


def event(model: str) -> StageEvent:
    graph = CapturedGraph(model, GraphRole.FORWARD, capture(torch.sin, torch.ones(1)))
    return StageEvent(graph, Stage.IMPORT, 0.0, dumps=lambda: {"fx.txt": "text"})


def test_name_of_a_model_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "root"
    DebugFolder(root).stage_ended(event("../../a b/<c>"))
    (folder,) = root.iterdir()
    assert (folder / "fx.txt").read_text() == "text"
    assert sorted(tmp_path.iterdir()) == [root]


def test_folder_that_cannot_be_written_is_logged_and_not_raised(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    DebugFolder(tmp_path / "file").stage_ended(event("Net"))
    assert "cannot write the debug folder" in caplog.text
