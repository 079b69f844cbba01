"""Fixtures of the stand-in compiler, for the `conftest.py` of whoever tests with it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jaxlib.mlir import ir

from neuron_compile.codegen.legality.program_module import open_context, write_module
from neuron_compile.lowering import LoweredProgram, TensorSpec
from stand_ins import neuronx_cc

ADD = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.add %x, %y : tensor<2x3xf32> #4
  return %0 : tensor<2x3xf32>
}
"""


def lowered(text: str, *specs: TensorSpec) -> LoweredProgram:
    """A program's text as lowering would hand it over; `#12` ends a line of node 12."""
    located = re.sub(r"#(\d+)$", r'loc("n\1")', text, flags=re.MULTILINE)
    artifact = write_module(ir.Module.parse(located, open_context()))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return LoweredProgram(artifact, specs[:-1], specs[-1:], digest)


def sum_program() -> LoweredProgram:
    """The sum of two small matrices."""
    spec = TensorSpec((2, 3), "float32", (3, 1))
    return lowered(ADD, spec, spec, spec)


@pytest.fixture
def program() -> LoweredProgram:
    return sum_program()


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts the stand-in on PATH; called with settings, it sets what the stand-in reads."""
    neuronx_cc.install(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)

    def configure(**settings: Any) -> None:
        for name, value in settings.items():
            monkeypatch.setenv(f"STAND_IN_{name.upper()}", str(value))

    configure(calls=tmp_path / "calls")
    return configure


@pytest.fixture
def calls(tmp_path: Path) -> Callable[[], list[list[str]]]:
    """The arguments of every compilation so far."""

    def read() -> list[list[str]]:
        file = tmp_path / "calls"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    return read
