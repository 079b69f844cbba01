"""Actions in the calling process."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from fx_graphs import capture
from neuron_compile import CodegenError, ExecutionError, LoweringError, actions
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.lowering import TorchProgram
from neuron_compile.lowering.diagnostics import ConversionFailure
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.workers import in_process
from neuron_compile.workers.in_process import InProcess
from neuron_compile.workers.reproducer import read_reproducer


def program() -> TorchProgram:
    return from_fx(capture(lambda x: (x + 1,), torch.ones(3))).program


def test_both_actions_are_carried_out() -> None:
    runner = InProcess(HostCodeGenerator())
    lowered = runner.lower(program())
    assert lowered == actions.lower(actions.encode_torch_program(program()))
    assert set(runner.generate(lowered)) == {"neff", "manifest.json"}
    runner.convert(program())
    runner.warm()
    assert runner.capacity == 1


def test_our_own_errors_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> dict[str, bytes]:
        raise ConversionFailure((), "refused")

    monkeypatch.setattr(actions, "lower", fail)
    with pytest.raises(ConversionFailure, match="refused"):
        InProcess(HostCodeGenerator()).lower(program())


def test_other_errors_become_ours_with_a_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> dict[str, bytes]:
        raise KeyError("x")

    runner = InProcess(HostCodeGenerator(), reproducers=tmp_path)
    monkeypatch.setattr(actions, "lower", fail)
    with pytest.raises(LoweringError, match="KeyError: 'x'") as raised:
        runner.lower(program())
    assert isinstance(raised.value.__cause__, KeyError)
    (folder,) = (tmp_path / "reproducers").iterdir()
    request, _ = read_reproducer(folder)
    assert request.inputs == actions.encode_torch_program(program())
    monkeypatch.setattr(actions, "generate", fail)
    with pytest.raises(CodegenError, match="KeyError"):
        runner.generate({"stablehlo": b""})


def test_child_of_a_process_that_compiled_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_process, "_is_spoilt", True)
    with pytest.raises(ExecutionError, match="workers"):
        InProcess(HostCodeGenerator()).lower(program())
