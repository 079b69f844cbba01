"""Device NEFFs and the cache: compiled once, never wrongly reused, failures never kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from neuron_compile import actions
from neuron_compile.artifact.neff import unpack_neff
from neuron_compile.cache import ActionCache, ActionKey, Outcome
from neuron_compile.codegen.neuronx_cc.diagnose import CompilerError
from neuron_compile.codegen.neuronx_cc.generator import NeuronxCodeGenerator
from neuron_compile.lowering import LoweredProgram
from neuron_compile.target import TARGETS

TESTS = Path(__file__).parents[1]

# One rank of a job: compiles the sum of two matrices through the shared cache. It says at once that
# it waits, not after some seconds.
RANK = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from neuron_compile.cache import turns
from stand_ins.fixtures import sum_program
from trainium.test_cached_compilation import compiled
turns._FIRST_WORD = 0.0
say = lambda line: print(line, flush=True)
result = compiled(Path(sys.argv[2]), sum_program(), on_wait=say)
print(result.outcome.value, len(result.blobs["neff"]))
"""


def compiled(
    folder: Path,
    program: LoweredProgram,
    *,
    target: str = "trn2",
    on_wait: Callable[[str], None] = lambda _: None,
    **settings: Any,
) -> Any:
    """What the conductor does for its second action."""
    generator = NeuronxCodeGenerator(TARGETS[target], **settings)
    key = ActionKey("codegen", actions.generate_key(program, generator))

    def produce() -> Mapping[str, bytes]:
        return actions.generate(actions.encode_program(program), generator)

    cache = ActionCache(folder, on_wait=on_wait)
    return cache.get_or_produce(key, produce, what="codegen of a sum")


def start_rank(folder: Path, **environment: object) -> subprocess.Popen[str]:
    settings = {f"STAND_IN_{name.upper()}": str(value) for name, value in environment.items()}
    return subprocess.Popen(
        [sys.executable, "-c", RANK, str(TESTS), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **settings},
    )


def working_folders(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "scratch").glob("neuronx-cc-*"))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def test_second_run_does_not_call_the_compiler(
    compiler: Any, calls: Any, program: LoweredProgram, store: Path
) -> None:
    cold, warm = compiled(store, program), compiled(store, program)
    assert (cold.outcome, warm.outcome) == (Outcome.PRODUCED, Outcome.HIT)
    assert dict(cold.blobs) == dict(warm.blobs)
    assert not unpack_neff(warm.blobs["neff"]).is_host
    assert len(calls()) == 1


def test_machine_without_the_compiler_uses_what_another_compiled(
    compiler: Any, calls: Any, program: LoweredProgram, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(store, program)
    monkeypatch.setenv("PATH", "/nowhere")
    warm = compiled(store, program, version="2.27.5334.0+stand.in")
    assert warm.outcome is Outcome.HIT
    assert len(calls()) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"target": "trn3"},
        {"target": "trn1"},
        {"optimization_level": 1},
        {"auto_cast": "matmult"},
        {"model_type": "transformer"},
        {"logical_cores": 1},
        {"extra_flags": "--enable-saturate-infinity"},
    ],
    ids=str,
)
def test_whatever_changes_the_neff_compiles_anew(
    compiler: Any, calls: Any, program: LoweredProgram, store: Path, change: dict[str, Any]
) -> None:
    compiled(store, program)
    assert compiled(store, program, **change).outcome is Outcome.PRODUCED
    assert len(calls()) == 2


def test_upgraded_compiler_compiles_anew(
    compiler: Any, calls: Any, program: LoweredProgram, store: Path, tmp_path: Path
) -> None:
    compiled(store, program)
    compiler(version="2.28.0.0+other")
    upgraded = tmp_path / "bin" / "neuronx-cc"
    upgraded.write_text(upgraded.read_text() + "# another file\n")
    assert compiled(store, program).outcome is Outcome.PRODUCED
    assert compiled(store, program).outcome is Outcome.HIT
    assert len(calls()) == 2


def test_flags_of_one_meaning_share_an_entry(
    compiler: Any, calls: Any, program: LoweredProgram, store: Path
) -> None:
    compiled(store, program, extra_flags="-O1 --model-type=transformer")
    spelled = "--model-type generic  --model-type 'transformer' --optlevel 1 --cache_dir=/elsewhere"
    assert compiled(store, program, extra_flags=spelled).outcome is Outcome.HIT
    assert len(calls()) == 1


@pytest.mark.parametrize(
    "mode", ["exit1", "exit70", "signal9", "signal2", "signal11", "missing", "empty", "partial"]
)
def test_failures_are_never_kept(
    compiler: Any, calls: Any, program: LoweredProgram, store: Path, tmp_path: Path, mode: str
) -> None:
    compiler(mode=mode, once=tmp_path / "once")
    with pytest.raises(CompilerError):
        compiled(store, program)
    assert compiled(store, program).outcome is Outcome.PRODUCED
    assert compiled(store, program).outcome is Outcome.HIT
    assert len(calls()) == 2


def test_time_limit_leaves_nothing_behind(
    compiler: Any, program: LoweredProgram, store: Path, tmp_path: Path
) -> None:
    compiler(delay=60)
    with pytest.raises(CompilerError, match="did not finish"):
        compiled(store, program, time_limit_seconds=0.5)
    compiler(delay=0)
    assert compiled(store, program).outcome is Outcome.PRODUCED
    assert working_folders(tmp_path) == []


def test_interrupted_compilation_is_compiled_by_the_next_run(
    compiler: Any, calls: Any, program: LoweredProgram, store: Path
) -> None:
    def interrupt(_seconds: float, _line: str) -> None:
        raise KeyboardInterrupt

    compiler(delay=60)
    with pytest.raises(KeyboardInterrupt):
        compiled(store, program, progress=interrupt)
    compiler(delay=0)
    assert compiled(store, program).outcome is Outcome.PRODUCED
    assert len(calls()) == 2


@pytest.mark.multiprocess
def test_four_ranks_at_once_compile_once(
    compiler: Any, calls: Any, store: Path, tmp_path: Path
) -> None:
    ranks = [start_rank(store, delay=1) for _ in range(4)]
    said = [rank.communicate(timeout=120)[0].splitlines()[-1].split() for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * 4
    outcomes = [outcome for outcome, _ in said]
    assert outcomes.count("produced") == 1
    assert len({size for _, size in said}) == 1
    assert len(calls()) == 1
    assert working_folders(tmp_path) == []


@pytest.mark.multiprocess
def test_killed_rank_holds_nobody_up(
    compiler: Any, calls: Any, store: Path, tmp_path: Path
) -> None:
    first = start_rank(store, delay=60)
    deadline = time.monotonic() + 60
    while not calls():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    second = start_rank(store)
    assert second.stdout is not None
    word = second.stdout.readline()
    assert f"waiting for process {first.pid}" in word
    assert "codegen of a sum" in word
    assert len(calls()) == 1
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert first.returncode == -signal.SIGKILL
    said, _ = second.communicate(timeout=60)
    assert said.split()[0] == "produced"
    assert len(calls()) == 2
    deadline = time.monotonic() + 10
    while working_folders(tmp_path):
        assert time.monotonic() < deadline, "the killed rank's folder was left behind"
        time.sleep(0.05)
