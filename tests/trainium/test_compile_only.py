"""`torch.compile` for Trn2 on a machine without a device: NEFFs by the stand-in compiler, values by
the host."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from neuron_compile.codegen.legality.refusal import IllegalProgramError
from neuron_compile.codegen.neuronx_cc.diagnose import CompilerError
from neuron_compile.errors import (
    CodegenError,
    ExecutionError,
    Float64Warning,
    NeuronCompileWarning,
    OptionsError,
)
from neuron_compile.runtime.nrt import library
from parity import compile_error, compiled
from stand_ins.libnrt import StandIn

TRN2 = {"target": "trn2", "execute": "host"}


@pytest.fixture(autouse=True)
def here(compiler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, whose environment the stand-in reads."""
    monkeypatch.setenv("NEURON_COMPILE_WORKERS", "0")


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.last(self.first(x).relu())
        return result


def step(model: nn.Module, x: Tensor, **options: Any) -> Tensor:
    """A forward and a backward pass in what would be a new process."""
    torch._dynamo.reset()
    result: Tensor = compiled(model, options={**TRN2, **options})(x)
    result.sum().backward()
    return result


def test_values_and_gradients_are_those_of_the_host_while_neffs_are_made(calls: Any) -> None:
    model, x = Net(), torch.randn(3, 4)
    expected = model(x)
    expected.sum().backward()
    gradients = [p.grad for p in model.parameters()]
    model.zero_grad()
    torch.testing.assert_close(step(model, x), expected)
    for wanted, parameter in zip(gradients, model.parameters(), strict=True):
        torch.testing.assert_close(parameter.grad, wanted)
    assert len(calls()) == 2
    assert all("--target=trn2" in flags and "--lnc=2" in flags for flags in calls())


def test_second_run_does_not_call_the_compiler(calls: Any) -> None:
    model, x = Net(), torch.randn(3, 4)
    first = step(model, x)
    assert torch.equal(step(model, x), first)
    assert len(calls()) == 2


def test_steps_after_the_first_compile_nothing(calls: Any) -> None:
    model = nn.Linear(4, 4)
    function = compiled(model, options=TRN2)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    for _ in range(4):
        function(torch.randn(8, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert len(calls()) == 2


def test_environment_asks_for_the_same_as_the_options(
    calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, x = Net(), torch.randn(3, 4)
    step(model, x)
    torch._dynamo.reset()
    monkeypatch.setenv("TORCH_NEURONX_COMPILE_ONLY", "1")
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn2")
    compiled(model)(x).sum().backward()
    assert len(calls()) == 2


def test_compile_only_without_a_device_to_compile_for_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TORCH_NEURONX_COMPILE_ONLY", "1")
    with pytest.raises(Exception) as raised:
        compiled(Net())(torch.randn(3, 4))
    assert "NEURON_PLATFORM_TARGET_OVERRIDE" in compile_error(raised, OptionsError).hint


@pytest.mark.parametrize(
    "flags,is_new",
    [
        ("--verbose 35 --cache_dir=/elsewhere", False),
        ("-O2 --model-type generic", False),
        ("--enable-saturate-infinity", True),
        ("--optlevel=1", True),
    ],
)
def test_flags_of_the_environment_enter_the_key_by_their_meaning(
    calls: Any, monkeypatch: pytest.MonkeyPatch, flags: str, is_new: bool
) -> None:
    x = torch.randn(4, 4)
    for text in ("", flags):
        monkeypatch.setenv("NEURON_CC_FLAGS", text)
        torch._dynamo.reset()
        compiled(lambda x: x @ x, options=TRN2)(x)
    assert len(calls()) == 1 + is_new


@pytest.mark.parametrize(
    "options,words",
    [
        ({"auto_cast": "matmult"}, ["--auto-cast=matmult", "--auto-cast-type=bf16"]),
        ({"model_type": "transformer"}, ["--model-type=transformer"]),
        ({"lnc": 1}, ["--lnc=1"]),
        ({"optimization_level": 1}, ["--optlevel=1"]),
    ],
)
def test_options_reach_the_compiler(calls: Any, options: dict[str, Any], words: list[str]) -> None:
    compiled(lambda x: x + 1, options={**TRN2, **options})(torch.ones(2))
    assert set(words) <= set(calls()[0])


def test_what_a_person_wants_to_see_enters_no_key(
    calls: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step(Net(), torch.randn(3, 4))
    monkeypatch.setenv("NEURON_COMPILE_DEBUG_DIR", str(tmp_path / "debug"))
    step(Net(), torch.randn(3, 4))
    assert len(calls()) == 2
    assert list((tmp_path / "debug").glob("*/model.hlo.pb"))


@pytest.mark.parametrize("size", [2, 16])
@pytest.mark.parametrize("target", ["trn2", "host"])
def test_auto_cast_rounds_products_on_the_host_as_on_a_device(target: str, size: int) -> None:
    x, w = torch.randn(size, size), torch.randn(size, size)
    options = {**TRN2, "target": target, "auto_cast": "matmult"}
    result = compiled(lambda x, w: x @ w, options=options)(x, w)
    rounded = x.bfloat16().float() @ w.bfloat16().float()
    torch.testing.assert_close(result, rounded)
    assert (result - x @ w).abs().max() > 1e-3


def test_small_products_are_products_for_a_device_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURON_COMPILE_DEBUG_DIR", str(tmp_path / "debug"))
    compiled(lambda x: x @ x, options=TRN2)(torch.randn(2, 2))
    (text,) = (tmp_path / "debug").glob("*/stablehlo.mlir")
    assert "dot_general" in text.read_text()


def test_auto_cast_of_the_flags_is_emulated_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_CC_FLAGS", "--auto-cast=all --auto-cast-type=fp16")
    x = torch.tensor([1 + 2**-12, 3.0])
    assert torch.equal(compiled(lambda x: x * 1.0 + 0, options=TRN2)(x), torch.tensor([1.0, 3.0]))


def test_branches_are_those_of_the_values(calls: Any) -> None:
    def branching(x: Tensor) -> Tensor:
        if (x * 2).sum() > 0:
            return x.sin()
        return x.cos() + 1

    function = compiled(branching, options=TRN2)
    with torch.no_grad():
        for x in (torch.ones(3), -torch.ones(3)):
            torch.testing.assert_close(function(x), branching(x))
    # The condition, and either branch.
    assert len(calls()) == 3


@pytest.mark.parametrize(
    "function,code,line",
    [
        (lambda x: torch.view_as_real(torch.complex(x, x) * 2), "EVRF004", "torch.complex(x, x)"),
        (lambda x: torch.linalg.cholesky(x @ x.T), "EVRF015", "torch.linalg.cholesky(x @ x.T)"),
        (lambda x: torch.fft.rfft(x).real, "EVRF001", "torch.fft.rfft(x)"),
    ],
    ids=["complex", "linalg", "fft"],
)
def test_what_a_device_does_not_have_is_refused_with_the_users_line(
    calls: Any, function: Callable[[Tensor], Tensor], code: str, line: str
) -> None:
    with pytest.raises(Exception) as raised:
        compiled(function, options=TRN2)(torch.eye(4))
    error = compile_error(raised, IllegalProgramError)
    assert "(graph" in error.what
    assert any(code in place and __file__ in place and line in place for place in error.where)
    assert calls() == []


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.fft.rfft(x.sin()).abs() * 2,
        lambda x: torch.view_as_real(torch.complex(x, x.cos()) * 2).sum(-1) + 1,
        lambda x: torch.linalg.cholesky(x @ x.T + torch.eye(4)).sin(),
        lambda x: torch.fft.ifft(torch.fft.fft(x + 1) * 3).real.relu(),
    ],
    ids=["fft", "complex", "linalg", "round trip"],
)
def test_what_a_device_does_not_have_runs_in_eager_if_asked_for(
    calls: Any, function: Callable[[Tensor], Tensor]
) -> None:
    x = torch.rand(4, 4, requires_grad=True)

    def run(function: Callable[[Tensor], Tensor]) -> list[Tensor]:
        result = function(x)
        return [result, *torch.autograd.grad(result.square().sum(), x)]

    with pytest.warns(NeuronCompileWarning, match=r"NCC_EVRF0\d\d") as warned:
        found = run(compiled(function, options={**TRN2, "fallback": "eager"}))
    said = [str(warning.message) for warning in warned]
    assert any("in eager PyTorch" in text and __file__ in text for text in said)
    torch.testing.assert_close(found, run(function), rtol=1e-4, atol=1e-5)
    assert len(calls()) >= 2, "what is between them is compiled"


def test_float64_is_demoted_with_a_warning() -> None:
    x = torch.randn(3, dtype=torch.float64)
    with pytest.warns(Float64Warning):
        result = compiled(lambda x: x.sin() * 2, options=TRN2)(x)
    assert result.dtype is torch.float64
    torch.testing.assert_close(result, x.sin() * 2, rtol=1e-5, atol=1e-6)


def test_program_for_a_device_compiles_without_one_and_its_call_says_why(calls: Any) -> None:
    function = compiled(lambda x: x + 1, options={"target": "trn2"})
    with pytest.raises(ExecutionError, match="libnrt, the Neuron runtime, is not installed"):
        function(torch.ones(2))
    assert len(calls()) == 1


def test_machine_without_the_compiler_takes_what_another_made(
    calls: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, x = Net(), torch.randn(3, 4)
    first = step(model, x)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Exception) as raised:
        step(model, x)
    error = compile_error(raised, CodegenError)
    assert "install neuronx-cc" in error.hint
    assert '"host"' in error.hint
    monkeypatch.setenv("NEURON_COMPILE_CC_VERSION", "2.27.5334.0+stand.in")
    assert torch.equal(step(model, x), first)
    assert len(calls()) == 2


@pytest.mark.parametrize(
    "mode,said",
    [
        ("signal9", "ran out of memory"),
        ("missing", "there is no output"),
        pytest.param("exit70", "exit code 70", marks=pytest.mark.slow),
        pytest.param("signal2", "interrupted", marks=pytest.mark.slow),
        pytest.param("empty", "the output is empty", marks=pytest.mark.slow),
    ],
)
def test_failed_compilation_names_the_model_and_is_compiled_by_the_next_run(
    compiler: Any, calls: Any, tmp_path: Path, mode: str, said: str
) -> None:
    compiler(mode=mode, once=tmp_path / "once")
    model, x = Net(), torch.randn(3, 4)
    with pytest.raises(Exception) as raised:
        step(model, x)
    error = compile_error(raised, CompilerError)
    assert error.what.startswith("Net forward (graph")
    assert said in str(error)
    torch.testing.assert_close(step(model, x), model(x))
    assert len(calls()) == 3


def test_internal_error_of_the_compiler_points_at_the_users_line(compiler: Any) -> None:
    compiler(mode="exit70", say="[ERROR] [NCC_ITEN406] cannot tile %n1.1 = f32[4,4] dot")
    with pytest.raises(Exception) as raised:
        compiled(lambda x: x @ x, options=TRN2)(torch.randn(4, 4))
    error = compile_error(raised, CompilerError)
    assert error.codes == ("ITEN406",)
    assert any(__file__ in place and "x @ x" in place for place in error.where)


def test_log_says_what_begins_how_it_goes_and_how_it_ended_and_a_hit_is_silent(
    compiler: Any, caplog: pytest.LogCaptureFixture
) -> None:
    compiler(delay=2.5)

    def said() -> list[str]:
        caplog.clear()
        torch._dynamo.reset()
        with caplog.at_level(logging.INFO, "neuron_compile"), torch.no_grad():
            compiled(Net(), options=TRN2)(torch.ones(3, 4))
        lines = [record.getMessage() for record in caplog.records]
        return [line for line in lines if "begins" in line or "neuronx-cc," in line]

    begun, second, *beats, host = said()
    assert begun.startswith("Net inference (graph")
    assert begun.endswith("lower begins")
    assert second.endswith("codegen for trn2 begins")
    assert host.endswith("codegen for host begins")
    assert [beat.split()[1] for beat in beats[:2]] == ["1", "2"]
    assert all("pass with" in beat for beat in beats)
    ended = [r.getMessage() for r in caplog.records if ": codegen produced in" in r.getMessage()]
    assert len(ended) == 1
    assert ended[0].startswith("Net inference (graph")
    assert said() == []


def test_time_limit_ends_the_compiler_and_progress_is_logged_meanwhile(
    compiler: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    compiler(delay=60)
    options = {**TRN2, "time_limit": 2.5}
    with caplog.at_level(logging.INFO, "neuron_compile"), pytest.raises(Exception) as raised:
        compiled(lambda x: x + 1, options=options)(torch.ones(2))
    assert "did not finish" in compile_error(raised, CompilerError).what
    beats = [r.getMessage() for r in caplog.records if "neuronx-cc" in r.getMessage()]
    assert any("1 s: pass with" in beat for beat in beats)
    assert list((tmp_path / "scratch").iterdir()) == []


def test_program_runs_on_a_device_where_there_is_one(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, calls: Any
) -> None:
    monkeypatch.setattr(library, "DEFAULT_LIBRARIES", (stand_in.path,))
    # The stand-in for libnrt reads plain archives only.
    monkeypatch.setenv("NEURON_CC_FLAGS", "--enable-fast-loading-neuron-binaries")
    x, y = torch.randn(3, 2), torch.randn(3, 2)
    function = compiled(lambda x, y: torch.maximum(x * y, x) - y, options={"target": "trn2"})
    for _ in range(2):
        torch.testing.assert_close(function(x, y), torch.maximum(x * y, x) - y)
    assert len(calls()) == 1
    assert "nrt_execute" in " ".join(stand_in.calls)
    assert stand_in.violations == []
