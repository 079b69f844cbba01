"""One runtime a process: opened once, closed last, refused after a fork."""

from __future__ import annotations

import _ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from neuron_compile.errors import ExecutionError
from neuron_compile.runtime.nrt import library as nrt_library
from neuron_compile.runtime.nrt.executable import NrtExecutable
from neuron_compile.runtime.nrt.library import open_library
from neuron_compile.runtime.nrt.runtime import NrtRuntime, runtime
from neuron_compile.runtime.nrt.status import NrtError, check

from .conftest import StandIn, manifest_of, neff_of, spec

F = spec("float32", 2)


def test_absent_library_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nrt_library, "DEFAULT_LIBRARIES", (Path("/nowhere/libnrt.so.1"),))
    with pytest.raises(
        ExecutionError, match="libnrt, the Neuron runtime, is not installed"
    ) as raised:
        runtime()
    assert '"host"' in raised.value.hint


def test_file_that_is_no_libnrt_is_refused(tmp_path: Path) -> None:
    fake = tmp_path / "libnrt.so.1"
    fake.write_bytes(b"not a library")
    with pytest.raises(ExecutionError, match="cannot be loaded"):
        open_library(fake)
    with pytest.raises(ExecutionError, match="cannot be loaded"):
        open_library(Path(_ctypes.__file__))


def test_failed_initialization_is_explained(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STAND_IN_INIT_STATUS", "9")
    with pytest.raises(NrtError, match="nrt_init: NRT_LOAD_NOT_ENOUGH_NC"):
        NrtRuntime(open_library(stand_in.path))


def test_same_library_is_initialized_once(stand_in: StandIn) -> None:
    assert runtime(stand_in.path) is runtime(stand_in.path)
    assert stand_in.calls.count("nrt_init") == 1
    runtime(stand_in.path).close()


def test_unknown_status_is_still_an_error() -> None:
    check("nrt_execute", 0)
    with pytest.raises(NrtError, match="status 4242"):
        check("nrt_execute", 4242)


def test_forked_child_is_refused_at_once(stand_in: StandIn) -> None:
    opened = NrtRuntime(open_library(stand_in.path))
    program = NrtExecutable(neff_of([F], [F], "copy output0 input0"), manifest_of([F], [F]), opened)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            program.execute([torch.ones(2)])
        except ExecutionError as error:
            code = 0 if "does not survive fork" in str(error) else 2
        program.close()
        opened.close()
        os._exit(3 if stand_in.violations else code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert torch.equal(program.execute([torch.ones(2)])[0], torch.ones(2))
    opened.close()
    assert stand_in.violations == []


@pytest.mark.multiprocess
def test_process_that_just_ends_closes_everything_in_order(
    stand_in: StandIn, tmp_path: Path
) -> None:
    neff = tmp_path / "model.neff"
    neff.write_bytes(neff_of([F], [F], "copy output0 input0"))
    script = f"""
from pathlib import Path
import torch
from neuron_compile.artifact.manifest import Manifest
from neuron_compile.lowering import TensorSpec
from neuron_compile.runtime.nrt.load import load_device_neff
spec = TensorSpec((2,), "float32", (1,))
manifest = Manifest("trn2", (), (), (spec,), (spec,), "0" * 64, "0" * 64)
program = load_device_neff(
    Path({str(neff)!r}).read_bytes(), manifest, library=Path({str(stand_in.path)!r})
)
print(program.execute([torch.ones(2)]))
"""
    report = tmp_path / "report"
    subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        env={**os.environ, "STAND_IN_REPORT": str(report)},
    )
    assert report.read_text() == "closed\n"
