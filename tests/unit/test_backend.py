"""The entry point: what it refuses, what it warns of, how it is found."""

from __future__ import annotations

import warnings
from importlib import metadata

import pytest
import torch

from neuron_compile import NeuronCompileWarning, backend, environment
from neuron_compile.backend import neuron
from neuron_compile.errors import EnvironmentMismatchError


def test_both_names_lead_to_the_one_function() -> None:
    points = metadata.entry_points(group="torch_dynamo_backends")
    ours = {p.name: p.load() for p in points if p.value.startswith("neuron_compile.")}
    assert ours == {"neuron": neuron, "neuron_compile": neuron}
    assert {"neuron", "neuron_compile"} <= set(torch.compiler.list_backends())


def test_dynamo_prints_the_name_of_the_function() -> None:
    assert neuron.__name__ == "neuron"


def test_other_mode_is_warned_of_once_and_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_warned", set())

    def add(addend: int) -> float:
        function = torch.compile(lambda x: x + addend, backend="neuron", mode="max-autotune")
        return float(function(torch.zeros(1)))

    with pytest.warns(NeuronCompileWarning, match="mode='max-autotune' is ignored"):
        assert add(1) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert add(2) == 2


def test_misspelt_variable_is_warned_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "_warned", set())
    monkeypatch.setenv("NEURON_COMPILE_CACHE_DIRECTORY", "/shared")
    with pytest.warns(NeuronCompileWarning, match="Did you mean NEURON_COMPILE_CACHE_DIR"):
        torch.compile(lambda x: x + 3, backend="neuron")(torch.zeros(1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.compile(lambda x: x + 4, backend="neuron")(torch.zeros(1))


def test_default_mode_is_no_mode() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function = torch.compile(lambda x: x + 1, backend="neuron", mode="default")
        assert function(torch.zeros(1)).item() == 1


def test_environment_is_checked_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    environment.check_environment.cache_clear()
    monkeypatch.setattr(environment, "installed_version", lambda name: "0.1")
    module = torch.fx.symbolic_trace(torch.nn.Identity())
    with pytest.raises(EnvironmentMismatchError, match=r"torch 0\.1"):
        neuron(module, [], options={"no_such_option": 1})
