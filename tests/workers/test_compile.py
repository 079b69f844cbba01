"""torch.compile when a compiler crashes: an error, a folder that reproduces it, and on it goes."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed

from neuron_compile import CodegenError, ExecutionError, LoweringError, NeuronCompileError
from neuron_compile.workers import pools
from neuron_compile.workers.pool import WorkerPool
from workers.conftest import FAULTY

pytestmark = [
    pytest.mark.multiprocess,
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

Fault = Callable[[str], None]


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fault]:
    """Puts a fault, such as `abort:lower`, into the workers that are started from now on."""
    pools.close_pools()
    monkeypatch.setattr(pools, "WorkerPool", functools.partial(WorkerPool, module=FAULTY))

    def set_fault(name: str) -> None:
        pools.close_pools()
        monkeypatch.setenv("FAULT", name)

    yield set_fault
    pools.close_pools()


def compiled(function: Any, **options: Any) -> Any:
    torch._dynamo.reset()
    return torch.compile(
        function, backend="neuron", dynamic=False, options={"workers": 2} | options
    )


def failure(function: Any, **options: Any) -> NeuronCompileError:
    with pytest.raises(BackendCompilerFailed) as raised:
        compiled(function, **options)(torch.ones(3))
    error = raised.value.inner_exception
    assert isinstance(error, NeuronCompileError)
    return error


def reproducers() -> list[Path]:
    folder = Path(os.environ["NEURON_COMPILE_CACHE_DIR"]) / "reproducers"
    return sorted(folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize(
    ("name", "kind", "said", "files"),
    [
        ("abort:lower", LoweringError, "SIGABRT", {"torch.mlir", "calls.json"}),
        ("segfault:generate", CodegenError, "SIGSEGV", {"program.stablehlo", "program.json"}),
        ("garble:lower", LoweringError, "no message", {"torch.mlir", "calls.json"}),
        ("die:generate", CodegenError, "SIGKILL", {"program.stablehlo", "program.json"}),
        ("raise:lower", LoweringError, "KeyError: 'none of ours'", {"torch.mlir", "calls.json"}),
    ],
)
def test_crash_is_an_error_with_a_reproducer(
    fault: Fault, name: str, kind: type[Exception], said: str, files: set[str]
) -> None:
    fault(name)
    error = failure(lambda x: x + 1)
    assert type(error) is kind
    assert said in error.why
    (folder,) = reproducers()
    assert str(folder) in error.hint
    assert {path.name for path in folder.iterdir()} == {
        *files, "README.txt", "request.json", "output.txt",
    }  # fmt: skip
    # Nothing was kept of the failure, and the process compiles on.
    fault("")
    assert torch.equal(compiled(lambda x: x + 1)(torch.ones(3)), torch.full((3,), 2.0))


def test_limits_are_the_users(fault: Fault) -> None:
    fault("spin:generate")
    assert "the limit of 0.5 s" in failure(lambda x: x + 1, time_limit=0.5).why
    fault("allocate:lower")
    assert "the limit of 0.70 GB" in failure(lambda x: x - 1, memory_limit="700MB").why


def test_limits_come_from_the_environment(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_COMPILE_TIME_LIMIT", "1")
    fault("spin:lower")
    assert "the limit of 1 s" in failure(lambda x: x + 1).why


def test_same_failure_twice_is_one_folder(fault: Fault) -> None:
    fault("abort:lower")
    for _ in range(2):
        failure(lambda x: x + 1)
    assert len(reproducers()) == 1


def test_folder_is_under_the_debug_folder_if_there_is_one(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEURON_COMPILE_DEBUG_DIR", str(tmp_path / "debug"))
    fault("abort:lower")
    assert str(tmp_path / "debug" / "reproducers") in failure(lambda x: x + 1).hint


def test_command_in_the_readme_runs_the_action_again(fault: Fault) -> None:
    fault("abort:generate")
    failure(lambda x: x * 5)
    (folder,) = reproducers()
    (command,) = [
        line.strip()
        for line in (folder / "README.txt").read_text().splitlines()
        if line.strip().startswith("python ")
    ]
    for extra in ([], ["--here"]):
        done = subprocess.run(
            [sys.executable, *command.split()[1:], *extra],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        # The fault is not the program's, so the real worker succeeds.
        assert "generate succeeded" in done.stdout, done.stderr
        assert done.returncode == 0


def test_nothing_is_printed_where_the_user_looks(
    fault: Fault, capfd: pytest.CaptureFixture[str]
) -> None:
    fault("abort:lower")
    error = failure(lambda x: x + 1)
    assert "LLVM ERROR: this pass aborts" in error.where
    assert capfd.readouterr() == ("", "")


def test_failure_of_work_done_ahead_comes_when_it_is_asked_for(fault: Fault) -> None:
    fault("abort_cosine:lower")
    x = torch.ones(3, requires_grad=True)
    loss = compiled(lambda x: x.sin().sum())(x)
    torch.testing.assert_close(loss.detach(), torch.ones(3).sin().sum())
    with pytest.raises(Exception, match="SIGABRT") as raised:
        loss.backward()
    error = getattr(raised.value, "inner_exception", raised.value)
    assert type(error) is LoweringError


@pytest.mark.parametrize("action", ["lower", "generate"])
def test_forward_and_backward_are_at_an_action_at_the_same_time(
    fault: Fault, action: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "meeting").mkdir()
    monkeypatch.setenv("MEETING", str(tmp_path / "meeting"))
    # Neither goes on before the other one has begun.
    fault(f"meet:{action}")
    x = torch.ones(3, requires_grad=True)
    compiled(lambda x: x.sin().sum())(x).backward()
    torch.testing.assert_close(x.grad, torch.ones(3).cos())
    assert len(list((tmp_path / "meeting").iterdir())) == 2


def test_forked_child_without_workers_is_told_what_to_do() -> None:
    compiled(lambda x: x + 1, workers=0)(torch.ones(2))
    new = compiled(lambda x: x * 3, workers=0)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            new(torch.ones(2))
        except BackendCompilerFailed as error:
            os.write(writer, type(error.inner_exception).__name__.encode())
            os._exit(0)
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert os.read(reader, 100).decode() == ExecutionError.__name__


def test_hits_of_the_cache_ask_no_worker(fault: Fault) -> None:
    fault("")
    expected = compiled(lambda x: x + 7)(torch.ones(3))
    fault("abort:lower")
    assert torch.equal(compiled(lambda x: x + 7)(torch.ones(3)), expected)
