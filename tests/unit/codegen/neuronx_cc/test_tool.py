from __future__ import annotations

from pathlib import Path

import pytest

from neuron_compile.codegen.neuronx_cc.tool import Tool, find_tool
from neuron_compile.errors import CodegenError


def script(folder: Path, body: str) -> str:
    file = folder / "neuronx-cc"
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return str(file)


def test_version_is_found_in_what_the_compiler_says(tmp_path: Path) -> None:
    path = script(
        tmp_path, "echo 'NeuronX Compiler version 2.24.5133.0+1a2b'; echo Python version 3.11"
    )
    tool = find_tool(path, "trn2")
    assert tool == Tool(path, "2.24.5133.0+1a2b")
    assert tool.release == (2, 24)


@pytest.mark.parametrize("body", ["echo hello", "echo version 2.1; exit 1", "exit 0"])
def test_compiler_that_does_not_tell_its_version_is_refused(tmp_path: Path, body: str) -> None:
    with pytest.raises(CodegenError, match="does not tell its version"):
        find_tool(script(tmp_path, body), "trn2")


def test_file_that_cannot_run_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "neuronx-cc"
    file.write_bytes(b"\x7fELFnot really")
    file.chmod(0o755)
    with pytest.raises(CodegenError, match="does not tell its version"):
        find_tool(str(file), "trn2")


def test_release_of_an_odd_version() -> None:
    assert Tool("", "dev").release == (0, 0)
