from __future__ import annotations

import importlib.util
import shutil

import pytest
import torch

from benchmarks.backends import BACKENDS, Backend, missing


def test_eager_is_the_function_itself() -> None:
    assert Backend("eager").compile(torch.mm) is torch.mm
    assert Backend("neuron").compile(torch.mm) is not torch.mm


def test_what_cannot_be_measured_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert {name: missing(name) for name in BACKENDS} == {
        "neuron": None,
        "eager": None,
        "inductor": "it needs a C++ compiler",
        "openvino": "openvino is not installed",
    }
