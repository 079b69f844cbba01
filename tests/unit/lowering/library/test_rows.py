"""Library calls that PyTorch's operator database makes lead to bodies that can be traced."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
import torch

from neuron_compile.errors import UnsupportedOpError
from neuron_compile.lowering.library.trace import trace
from neuron_compile.lowering.program import LibraryCall
from unit.lowering.library.opinfo_calls import library_calls, names_with


def failures(calls: Iterable[LibraryCall]) -> dict[str, str]:
    """What went wrong by operator; that a body refuses a call is its right."""
    found = {}
    for call in calls:
        try:
            assert "func.func public @main" in trace(call)
        except UnsupportedOpError:
            continue
        except Exception as error:
            found[call.operator] = f"{call.arguments[:200]}: {error}"
    return found


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64], ids=str)
@pytest.mark.parametrize("decomposed", [True, False], ids=["decomposed", "whole"])
def test_calls_of_some_entries_can_be_traced(dtype: torch.dtype, decomposed: bool) -> None:
    calls = library_calls(names_with(dtype)[::48], dtype, samples=1, decomposed=decomposed)
    assert len(calls) > 5
    assert failures(calls.values()) == {}


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64], ids=str)
def test_calls_of_all_entries_can_be_traced(dtype: torch.dtype) -> None:
    calls = library_calls(names_with(dtype), dtype, samples=4)
    assert failures(calls.values()) == {}
