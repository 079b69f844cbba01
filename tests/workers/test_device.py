"""Code generation for a device in a worker: neuronx-cc is started there, and ended with it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neuron_compile import CodegenError, actions
from neuron_compile.codegen.neuronx_cc.diagnose import CompilerError
from neuron_compile.codegen.neuronx_cc.generator import NeuronxCodeGenerator
from neuron_compile.lowering import LoweredProgram
from neuron_compile.target import TARGETS
from neuron_compile.workers import pools
from neuron_compile.workers.in_workers import InWorkers
from neuron_compile.workers.limits import ActionLimits
from stand_ins.fixtures import calls, compiler, program

__all__ = ["calls", "compiler", "program"]

pytestmark = pytest.mark.multiprocess


@pytest.fixture(autouse=True)
def own_pools() -> Iterator[None]:
    pools.close_pools()
    yield
    pools.close_pools()


def runner(folder: Path, limits: ActionLimits) -> InWorkers:
    return InWorkers(
        1,
        NeuronxCodeGenerator(TARGETS["trn2"]),
        lower_limits=limits,
        generate_limits=limits,
        reproducers=folder,
    )


def running_in(folder: Path) -> list[str]:
    """The command lines of processes that name the folder."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if str(folder) in line]


def test_neff_is_the_one_that_is_made_here(
    tmp_path: Path,
    compiler: Callable[..., None],
    calls: Callable[[], list[list[str]]],
    program: LoweredProgram,
) -> None:
    inputs = actions.encode_program(program)
    made = runner(tmp_path, ActionLimits(None, 120)).generate(inputs)
    assert len(calls()) == 1
    assert made == actions.generate(inputs, NeuronxCodeGenerator(TARGETS["trn2"]))


def test_compiler_error_keeps_its_codes(
    tmp_path: Path, compiler: Callable[..., None], program: LoweredProgram
) -> None:
    compiler(mode="exit70", say="NCC_EVRF001 in %n4.1")
    with pytest.raises(CompilerError) as raised:
        runner(tmp_path, ActionLimits(None, 120)).generate(actions.encode_program(program))
    assert raised.value.codes == ("EVRF001",)
    assert raised.value.nodes == (4,)


def test_worker_that_is_ended_takes_the_compiler_with_it(
    tmp_path: Path, compiler: Callable[..., None], program: LoweredProgram
) -> None:
    compiler(delay=300)
    with pytest.raises(CodegenError, match="the limit of 5 s"):
        runner(tmp_path, ActionLimits(None, 5.0)).generate(actions.encode_program(program))
    deadline = time.monotonic() + 30
    while running_in(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert running_in(tmp_path) == []
