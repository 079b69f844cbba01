"""What must not be taken from AOTAutograd's cache, and what is compiled anew for any failure."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.exc import BackendCompilerFailed
from torch._functorch._aot_autograd.autograd_cache import AOTAutogradCache

from neuron_compile import NeuronCompileWarning
from neuron_compile.errors import CacheMissError
from neuron_compile.warm_start import eligible
from neuron_compile.warm_start.stored_graph import StoredGraph


def train(compiled: Any) -> tuple[float, list[float]]:
    x = torch.arange(1.0, 4.0, requires_grad=True)
    loss = compiled(x)
    loss.backward()
    assert x.grad is not None
    return loss.item(), x.grad.tolist()


def function(x: Tensor) -> Tensor:
    return (x.sin() * x).sum()


def test_another_option(restarts: Any) -> None:
    train(restarts.compile(function))
    train(restarts.compile(function, optimization_level=1))
    assert restarts.lookups == {"miss": 1, "saved": 1}
    train(restarts.compile(function, workers=1, model_name="other"))
    assert restarts.lookups == {"hit": 1}


def test_another_default_dtype(restarts: Any) -> None:
    def make(x: Tensor) -> Tensor:
        return x.sum() + torch.ones(2)

    restarts.compile(make)(torch.ones(3, dtype=torch.float16))
    try:
        torch.set_default_dtype(torch.bfloat16)
        result = restarts.compile(make)(torch.ones(3, dtype=torch.float16))
        expected = make(torch.ones(3, dtype=torch.float16))
    finally:
        torch.set_default_dtype(torch.float32)
    assert result.dtype == expected.dtype == torch.bfloat16
    assert "hit" not in restarts.lookups


def test_an_operator_whose_body_was_edited(restarts: Any) -> None:
    results = []
    for factor in (2.0, 3.0):
        with torch.library._scoped_library("warmstart", "FRAGMENT") as library:
            library.define("scale(Tensor x) -> Tensor")
            library.impl("scale", lambda x, factor=factor: x * factor, "CompositeImplicitAutograd")
            compiled = restarts.compile(lambda x: torch.ops.warmstart.scale(x) + 1)
            results.append(compiled(torch.ones(1)).item())
    assert results == [3.0, 4.0]
    assert restarts.lookups == {}


def test_an_empty_artifact_cache(restarts: Any, tmp_path: Path) -> None:
    expected = train(restarts.compile(function))
    shutil.rmtree(os.environ["NEURON_COMPILE_CACHE_DIR"])
    assert train(restarts.compile(function)) == expected
    assert restarts.lookups["bypass"] == 1
    # What was compiled is what the entry says: no other entry is needed.
    assert train(restarts.compile(function)) == expected
    assert restarts.lookups == {"hit": 1}


def test_a_record_that_does_not_read(restarts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = train(restarts.compile(function))
    intact = StoredGraph.decode
    monkeypatch.setattr(StoredGraph, "decode", classmethod(lambda _cls, data: intact(data[:-1])))
    assert train(restarts.compile(function)) == expected
    assert "hit" not in restarts.lookups


def test_an_entry_of_torch_that_is_damaged(restarts: Any) -> None:
    expected = train(restarts.compile(function))
    (entry,) = [p for p in Path(AOTAutogradCache._get_tmp_dir()).rglob("*") if p.is_file()]
    entry.write_bytes(entry.read_bytes()[:-40])
    assert train(restarts.compile(function)) == expected
    assert "hit" not in restarts.lookups


def test_operations_that_run_in_eager(restarts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eligible, "_SETTLED", {"aten", "warmstart"})
    with torch.library._scoped_library("warmstart", "FRAGMENT") as library:
        library.define("cube(Tensor x) -> Tensor")
        library.impl("cube", lambda x: x**3, "CPU")
        torch.library.register_fake("warmstart::cube", torch.empty_like, lib=library)
        cube = torch.ops.warmstart.cube
        for _ in range(2):
            compiled = restarts.compile(lambda x: cube(x + 1) * 2, fallback="eager")
            with pytest.warns(NeuronCompileWarning, match="eager PyTorch"):
                result = compiled(torch.ones(2))
            assert result.tolist() == [16.0, 16.0]
            assert "hit" not in restarts.lookups


def test_the_debug_folder_gets_every_stage(
    restarts: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(restarts.compile(function))
    monkeypatch.setenv("NEURON_COMPILE_DEBUG_DIR", str(tmp_path / "debug"))
    train(restarts.compile(function))
    assert restarts.lookups == {}
    assert len(list((tmp_path / "debug").glob("*/fx.txt"))) == 2


def test_a_required_cache_that_lost_its_artifacts(
    restarts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(restarts.compile(function))
    monkeypatch.setenv("NEURON_COMPILE_REQUIRE_CACHE", "1")
    train(restarts.compile(function))
    assert restarts.lookups == {"hit": 1}
    folder = os.environ["NEURON_COMPILE_CACHE_DIR"]
    shutil.rmtree(folder)
    with pytest.raises(BackendCompilerFailed) as failure:
        train(restarts.compile(function, model_name="wave"))
    error = failure.value.inner_exception
    assert isinstance(error, CacheMissError)
    assert "wave forward" in error.what
    assert any(folder in place for place in error.where)


def test_what_torch_keeps_has_no_native_code(restarts: Any) -> None:
    train(restarts.compile(function))
    (entry,) = [p for p in Path(AOTAutogradCache._get_tmp_dir()).rglob("*") if p.is_file()]
    kept = entry.read_bytes()
    assert b"\x7fELF" not in kept
    assert b"NEFF" not in kept
    assert b"neuron-compile stored graph" in kept
