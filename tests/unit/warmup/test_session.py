"""A program from its name to its graphs, and the executors that compile them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neuron_compile.assembly import assemble
from neuron_compile.options import CompileOptions
from neuron_compile.settings import read_settings
from neuron_compile.warmup.carry_out import OnExecutor
from neuron_compile.warmup.session import collect, executor_of, executor_runners, local_runners
from neuron_compile.workers.in_workers import InWorkers

PROGRAM = """
import sys
import torch

f = torch.compile(lambda x: x * 2, backend="neuron", dynamic=False)
with torch.no_grad():
    f(torch.ones(2))
if "fail" in sys.argv:
    raise ValueError("after one graph")
sys.exit(int(sys.argv[1]) if sys.argv[1:] else None)
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "train.py").write_text(PROGRAM)
    return str(tmp_path / "train.py")


@pytest.mark.parametrize("arguments, error", [([], None), (["0"], None), (["3"], "3")])
def test_status_of_the_program(script: str, arguments: list[str], error: str | None) -> None:
    collected = collect(script, arguments)
    assert [job.role for job in collected.jobs] == ["inference"]
    assert (collected.error and str(collected.error)) == error


def test_graphs_before_a_failure_are_kept(script: str) -> None:
    collected = collect(script, ["fail"])
    assert len(collected.jobs) == 1
    assert isinstance(collected.error, ValueError)


def test_runners() -> None:
    compiler = assemble(CompileOptions(workers=0), read_settings())
    local = local_runners(3)(compiler)
    assert isinstance(local, InWorkers)
    assert local.capacity == 3
    with executor_of(lambda: ThreadPoolExecutor(1)) as executor:
        assert isinstance(executor_runners(executor)(compiler), OnExecutor)
    with pytest.raises(RuntimeError, match="shutdown"):
        executor.submit(len, "")
