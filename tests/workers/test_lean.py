"""What a worker loads, and what it inherits."""

from __future__ import annotations

import sys

import pytest
import torch

from fx_graphs import capture
from neuron_compile import actions
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.runtime.compiled_graph import CompiledGraph
from neuron_compile.runtime.load import load
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.pool import WorkerPool
from neuron_compile.workers.recipe import recipe_of
from neuron_compile.workers.request import CONVERT, GENERATE, LOWER, Request

pytestmark = pytest.mark.multiprocess

LIMITS = ActionLimits(None, 120)


def test_both_actions_need_no_torch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FAULT", "")
    pool = WorkerPool(1, module="workers.faulty")
    imported = from_fx(capture(lambda x: (x.topk(2).values + x.sum(),), torch.ones(5)))
    assert imported.program.calls, "the graph was to have a library call"
    inputs = actions.encode_torch_program(imported.program)
    try:
        lowered = pool.run(Request(LOWER, inputs), LIMITS)
        converted = pool.run(Request(CONVERT, inputs), LIMITS)
        recipe = recipe_of(HostCodeGenerator(optimization_level=1))
        artifact = pool.run(Request(GENERATE, lowered.blobs, recipe), LIMITS)
        loaded = pool.run(Request("modules", {}), LIMITS).blobs["modules"].decode().split("\n")
    finally:
        pool.close()
    assert [lowered.kind, converted.kind, artifact.kind] == ["done"] * 3
    assert lowered.blobs == actions.lower(inputs)
    x = torch.randn(5)
    (result,) = CompiledGraph("graph", imported.signature, load(artifact.blobs))([x])
    torch.testing.assert_close(result, x.topk(2).values + x.sum())
    assert {"jax", "jaxlib", "torch_mlir"} <= set(loaded)
    assert [name for name in loaded if name == "torch" or name.startswith("torch.")] == []


def test_options_of_the_interpreter_are_passed_on(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys._xoptions, "neuron_test", "1")
    monkeypatch.setitem(sys._xoptions, "importtime", True)
    answer = pool.run(Request("options", {}), LIMITS)
    assert b"neuron_test" in answer.blobs["options"]
    assert b"importtime" not in answer.blobs["options"]
