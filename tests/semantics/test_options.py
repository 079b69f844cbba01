"""`options={...}`: validated, of effect, and never leaking into another compiled function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from parity import check_parity, compile_error, compiled, neuron_only

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = neuron_only


def refusal(options: dict[str, Any]) -> str:
    """The message of the OptionsError that these options lead to."""
    from neuron_compile import OptionsError

    with pytest.raises(Exception) as raised:
        compiled(lambda x: x + 1, options=options)(torch.ones(2))
    return str(compile_error(raised, OptionsError))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"fallbak": "eager"}, ["fallbak", "did you mean 'fallback'"]),
        ({"optimisation_level": 1}, ["optimisation_level", "did you mean 'optimization_level'"]),
        ({"target": "trainium"}, ["target", "'trainium'", "'host'", "'trn1'"]),
        ({"target": "trn11"}, ["'trn11'", "did you mean 'trn1"]),
        ({"fallback": "eagr"}, ["'eagr'", "did you mean 'eager'"]),
        ({"fallback": True}, ["fallback", "True"]),
        ({"optimization_level": 7}, ["optimization_level", "7"]),
        ({"optimization_level": "2"}, ["optimization_level", "'2'"]),
        ({"float64": "raise"}, ["float64", "'raise'", "'error'"]),
        ({"model_name": 3}, ["model_name", "3"]),
        ({"nonsense": 1}, ["nonsense", "unknown"]),
        ({"fallbak": 1, "targt": 2}, ["fallbak", "targt", "2 options"]),
    ],
)
def test_bad_option_is_refused_with_near_matches(
    options: dict[str, Any], expected: list[str]
) -> None:
    message = refusal(options)
    for part in (*expected, "Why:", "Try:"):
        assert part in message


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"target": "host"},
        {"fallback": "raise"},
        {"fallback": "eager"},
        {"optimization_level": 1},
        {"optimization_level": 3},
        {"float64": "error"},
        {"model_name": "net"},
        {"bounds_checks": False},
        {"target": "host", "optimization_level": 1, "model_name": "a b/c"},
    ],
    ids=str,
)
def test_good_options_give_the_right_numbers(options: dict[str, Any]) -> None:
    check_parity(
        lambda x: (x @ x.t()).tanh(),
        torch.randn(3, 4, requires_grad=True),
        grad=True,
        bound=1e-5,
        settings={"options": options},
    )


def test_options_of_one_function_do_not_reach_another() -> None:
    from neuron_compile import NeuronCompileError

    def use(x: Tensor) -> Tensor:
        return x @ x

    strict = compiled(use, options={"float64": "error"})
    plain = compiled(lambda x: x @ x + 0)
    x = torch.randn(64, 64)
    for function in (strict, plain, strict):
        torch.testing.assert_close(function(x), x @ x, rtol=1e-5, atol=1e-4)
    with pytest.raises(Exception) as raised:
        strict(x.double())
    assert "float64" in str(compile_error(raised, NeuronCompileError))
    with pytest.warns(UserWarning, match="float64"):
        assert plain(x.double()).dtype == torch.float64


def test_optimization_level_of_one_function_does_not_change_the_precision_of_another() -> None:
    x = torch.randn(64, 64)
    fast = compiled(lambda t: t @ t, options={"optimization_level": 3})
    careful = compiled(lambda t: t @ t + 0, options={"optimization_level": 1})
    for function in (fast, careful, fast):
        y = function(x)
        assert y.dtype == torch.float32
        torch.testing.assert_close(y, x @ x, rtol=1e-5, atol=1e-4)


def test_rounding_asked_for_by_one_function_is_not_done_in_another() -> None:
    x = torch.randn(64, 64)
    rounded = x.bfloat16().float() @ x.bfloat16().float()
    assert (rounded - x @ x).abs().max() > 1e-2
    device_like = compiled(lambda t: t @ t, options={"auto_cast": "matmult"})
    plain = compiled(lambda t: t @ t)
    for _ in range(2):
        torch.testing.assert_close(device_like(x), rounded, rtol=1e-5, atol=1e-4)
        torch.testing.assert_close(plain(x), x @ x, rtol=1e-5, atol=1e-4)


def test_model_name_shows_in_the_report() -> None:
    from neuron_compile import report

    module = nn.Linear(2, 2)
    compiled(module, options={"model_name": "tiny-linear"})(torch.ones(1, 2)).sum().backward()
    rows = [row for row in report().graphs if row.model == "tiny-linear"]
    assert {row.role for row in rows} == {"forward", "backward"}
    assert "tiny-linear" in str(report())


def test_new_weights_need_no_new_compilation() -> None:
    from torch._dynamo.utils import counters

    module = nn.Linear(3, 3)
    function = compiled(module)
    x = torch.randn(2, 3)
    function(x)
    before = counters["neuron"]["graphs"]
    with torch.no_grad():
        module.weight.normal_()
    function(x)
    module.load_state_dict({k: torch.randn_like(v) for k, v in module.state_dict().items()})
    torch.testing.assert_close(function(x), module(x))
    assert counters["neuron"]["graphs"] == before


def test_training_steps_after_the_first_compile_nothing() -> None:
    from torch._dynamo.utils import counters

    module = nn.Linear(4, 4)
    function = compiled(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    before = counters["neuron"]["graphs"]
    for _ in range(4):
        function(torch.randn(8, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    assert counters["neuron"]["graphs"] - before == 2


def test_debug_folder_holds_every_stage_for_fresh_and_cached_graphs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = []
    for run in ("fresh", "cached"):
        folder = tmp_path / run
        monkeypatch.setenv("NEURON_COMPILE_DEBUG_DIR", str(folder))
        torch._dynamo.reset()
        compiled(lambda x: x.sin() + 1)(torch.ones(3))
        (graph,) = folder.iterdir()
        contents.append({f.name: f.read_text(errors="replace") for f in graph.iterdir()})
    for files in contents:
        assert "sin" in files["fx.txt"]
        assert "torch.aten.sin" in files["torch.mlir"]
        assert "stablehlo.sine" in files["stablehlo.mlir"]
        assert "float32" in files["manifest.json"] or "f32" in files["manifest.json"]


def test_environment_default_of_the_target_is_overridden_by_the_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NEURON_COMPILE_TARGET", "trn99")
    assert "trn99" in refusal({})
    assert compiled(lambda x: x + 1, options={"target": "host"})(torch.ones(1)).item() == 2


@pytest.mark.parametrize("device", ["meta"])
def test_tensors_on_another_device_are_refused(device: str) -> None:
    from neuron_compile import NeuronCompileError

    with pytest.raises(Exception) as raised:
        compiled(lambda x: x * 2)(torch.ones(3, device=device))
    message = str(compile_error(raised, NeuronCompileError))
    assert device in message
    assert "Try:" in message
