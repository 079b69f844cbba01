"""Stored graphs where no torch.compile call says how to restore them."""

from __future__ import annotations

import dataclasses
import pickle
from pathlib import Path

import pytest
import torch
from torch._functorch._aot_autograd.autograd_cache import AOTAutogradCache

from neuron_compile.warm_start.output_code import StorableCode
from neuron_compile.warm_start.restore import restore_alone
from neuron_compile.warm_start.stored_graph import StoredGraph


@pytest.fixture
def stored() -> StoredGraph:
    compiled = torch.compile(
        lambda x: x * 3, backend="neuron", dynamic=False, options={"optimization_level": 1}
    )
    with torch.no_grad():
        compiled(torch.ones(2))
    (entry,) = [p for p in Path(AOTAutogradCache._get_tmp_dir()).rglob("*") if p.is_file()]
    code = pickle.loads(entry.read_bytes()).compiled_fw.result
    assert isinstance(code, StorableCode)
    return StoredGraph.decode(code.__getstate__()["stored"])


def test_by_the_stored_options(stored: StoredGraph) -> None:
    assert stored.options["optimization_level"] == 1
    assert "workers" not in stored.options
    restored = restore_alone(stored)
    assert restored is not None
    assert restored([torch.full((2,), 2.0)])[0].tolist() == [6.0, 6.0]


def test_not_by_another_version(stored: StoredGraph) -> None:
    assert restore_alone(dataclasses.replace(stored, made_by="another")) is None


def test_not_without_the_artifact(stored: StoredGraph) -> None:
    assert restore_alone(dataclasses.replace(stored, lowered="ab" * 32)) is None
