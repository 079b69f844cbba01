"""Actions on an executor."""

from __future__ import annotations

import pickle
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest
import torch

from fx_graphs import capture
from neuron_compile import CodegenError, LoweringError, actions
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.lowering import TorchProgram
from neuron_compile.lowering.diagnostics import ConversionFailure
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.warmup.carry_out import OnExecutor, carry_out
from neuron_compile.workers.request import LOWER, Request


def program() -> TorchProgram:
    return from_fx(capture(lambda x: (x + 1,), torch.ones(3))).program


class Answering(Executor):
    """Every task has the same outcome."""

    def __init__(self, outcome: Any) -> None:
        self._outcome = outcome

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if isinstance(self._outcome, Exception):
            future.set_exception(self._outcome)
        else:
            future.set_result(self._outcome)
        return future


def test_both_actions_are_carried_out() -> None:
    with ThreadPoolExecutor(1) as executor:
        runner = OnExecutor(executor, HostCodeGenerator())
        lowered = runner.lower(program())
        assert lowered == actions.lower(actions.encode_torch_program(program()))
        assert set(runner.generate(lowered)) == {"neff", "manifest.json"}
        runner.convert(program())


def test_tasks_and_answers_travel() -> None:
    request = Request.to(LOWER, actions.encode_torch_program(program()))
    task = pickle.loads(pickle.dumps((carry_out, request.to_json(), dict(request.inputs))))
    kind, _, blobs = pickle.loads(pickle.dumps(task[0](*task[1:])))
    assert kind == "done"
    assert set(blobs) == {"stablehlo", "program.json"}


def test_errors_arrive_as_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> dict[str, bytes]:
        raise ConversionFailure((), "refused")

    monkeypatch.setattr(actions, "lower", fail)
    with ThreadPoolExecutor(1) as executor, pytest.raises(ConversionFailure, match="refused"):
        OnExecutor(executor, HostCodeGenerator()).lower(program())


def test_errors_of_other_kinds_become_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> dict[str, bytes]:
        raise KeyError("x")

    monkeypatch.setattr(actions, "lower", fail)
    with ThreadPoolExecutor(1) as executor, pytest.raises(LoweringError, match="KeyError"):
        OnExecutor(executor, HostCodeGenerator()).lower(program())


def test_an_executor_that_fails() -> None:
    runner = OnExecutor(Answering(OSError("worker is gone")), HostCodeGenerator())
    with pytest.raises(LoweringError, match="worker is gone"):
        runner.lower(program())
    with pytest.raises(CodegenError, match="worker is gone"):
        runner.generate({})


def test_a_worker_with_other_tools() -> None:
    request = Request(LOWER, actions.encode_torch_program(program()), identity="another")
    answer = carry_out(request.to_json(), request.inputs)
    assert answer == ("stale", {}, {})
    with pytest.raises(LoweringError, match="same versions"):
        OnExecutor(Answering(answer), HostCodeGenerator()).lower(program())
