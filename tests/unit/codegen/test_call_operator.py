from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from fx_graphs import capture
from neuron_compile.codegen import call_operator
from neuron_compile.codegen.host_rewrites import rewrite_for_host
from neuron_compile.codegen.legality.program_module import read_module
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.lowering.to_stablehlo import to_stablehlo

X = torch.randn(4, 33)
OPERATORS: dict[str, Callable[[torch.Tensor], Any]] = {
    "sort": lambda x: x.sort(dim=0),
    "stable sort": lambda x: x.sort(dim=-1, descending=True, stable=True),
    "argsort": lambda x: x.argsort(1),
    "topk": lambda x: x.topk(3),
    "kthvalue": lambda x: x.kthvalue(5),
    "median": lambda x: x.median(1, keepdim=True),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(0),
    "cummax": lambda x: x.cummax(1),
    "cummin": lambda x: x.cummin(1),
    "rfft": lambda x: torch.view_as_real(torch.fft.rfft(x)),
    "fft and back": lambda x: torch.fft.irfft(torch.fft.rfft(x, norm="ortho"), n=33),
    "integers": lambda x: (x * 100).long().cumsum(1).sort()[0],
    "half": lambda x: x.bfloat16().cumsum(1),
}


def rewritten(function: Callable[[torch.Tensor], Any], x: torch.Tensor) -> str:
    lowered = to_stablehlo(from_fx(capture(function, x)).program)
    return str(read_module(rewrite_for_host(lowered.stablehlo)))


def test_only_a_large_call_is_replaced_and_says_what_it_is() -> None:
    small = rewritten(lambda x: x.cumsum(1), X)
    large = rewritten(lambda x: x.cumsum(1), torch.randn(128, 128))
    assert "custom_call" not in small
    (call,) = re.findall(r"custom_call @neuron_compile\.operator.*", large)
    assert "aten.cumsum.default" in call
    assert "api_version = 4" in call


def test_an_unmarked_library_function_is_left() -> None:
    text = rewritten(lambda x: x.logcumsumexp(1), torch.randn(128, 128))
    assert "custom_call" not in text


@pytest.mark.parametrize("name", OPERATORS)
def test_runs_as_in_eager(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_operator, "_LEAST_ELEMENTS", 0)
    function = OPERATORS[name]
    assert "custom_call @neuron_compile.operator" in rewritten(function, X)
    compiled = torch.compile(function, backend="neuron", dynamic=False)
    torch.testing.assert_close(compiled(X), function(X), rtol=0, atol=0)
