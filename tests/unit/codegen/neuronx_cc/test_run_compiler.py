"""Nothing of a compiler outlives its run, however the run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from neuron_compile.codegen.neuronx_cc import supervise
from neuron_compile.codegen.neuronx_cc.run_compiler import LOG_NAME, run_compiler

# Ignores SIGTERM and has a child, like a compiler that hangs in one of its passes.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("pids.tmp", "w").write(f"{os.getpid()} {child.pid}")
os.rename("pids.tmp", "pids")
print("pass 7 of 9", flush=True)
time.sleep(600)
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def wait_for(path: Path) -> str:
    deadline = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never appeared"
        time.sleep(0.02)
    return path.read_text()


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def assert_gone(pids: str) -> None:
    deadline = time.monotonic() + 10
    while any(map(is_running, map(int, pids.split()))):
        assert time.monotonic() < deadline, f"still running: {pids}"
        time.sleep(0.05)


def test_output_and_exit_code_of_a_run(tmp_path: Path) -> None:
    code = "import os, sys; print(os.getcwd()); print('err', file=sys.stderr); sys.exit(3)"
    outcome = run_compiler(python(code), tmp_path)
    assert outcome.exit_code == 3
    assert sorted(outcome.output.split()) == sorted([str(tmp_path), "err"])
    assert not outcome.is_timed_out
    assert outcome.seconds < 20


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV])
def test_signal_is_a_negative_exit_code(tmp_path: Path, number: signal.Signals) -> None:
    code = f"import os; os.kill(os.getpid(), {int(number)})"
    assert run_compiler(python(code), tmp_path).exit_code == -number


def test_command_that_cannot_start_says_so(tmp_path: Path) -> None:
    outcome = run_compiler([str(tmp_path / "absent")], tmp_path)
    assert outcome.exit_code == 127
    assert "cannot start" in outcome.output


def test_time_limit_kills_the_group_and_keeps_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    outcome = run_compiler(python(STUBBORN), folder, time_limit_seconds=1.0, grace_seconds=0.2)
    assert outcome.is_timed_out
    assert "pass 7 of 9" in outcome.output
    assert_gone((folder / "pids").read_text())


def test_progress_tells_elapsed_seconds_and_last_line(tmp_path: Path) -> None:
    heard: list[tuple[float, str]] = []
    code = (
        "import time; print('pass 1', flush=True); time.sleep(0.5); print('pass 2', flush=True)\n"
    )
    code += "time.sleep(0.5)"
    run_compiler(
        python(code),
        tmp_path,
        progress=lambda seconds, line: heard.append((seconds, line)),
        report_seconds=0.1,
    )
    assert {"pass 1", "pass 2"} <= {line for _, line in heard}
    assert [seconds for seconds, _ in heard] == sorted(seconds for seconds, _ in heard)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_exception_while_waiting_kills_the_group(
    tmp_path: Path, error: type[BaseException]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()

    def interrupt(_seconds: float, line: str) -> None:
        if line:
            raise error

    with pytest.raises(error):
        run_compiler(
            python(STUBBORN), folder, progress=interrupt, report_seconds=0.05, grace_seconds=0.2
        )
    assert_gone((folder / "pids").read_text())


@pytest.mark.multiprocess
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_parent_leaves_no_process_and_no_folder(
    tmp_path: Path, number: signal.Signals
) -> None:
    folder, pids = tmp_path / "run", tmp_path / "pids"
    folder.mkdir()
    code = STUBBORN.replace('"pids', f'"{tmp_path}/pids')
    script = f"""
import sys
from pathlib import Path
from neuron_compile.codegen.neuronx_cc.run_compiler import run_compiler
command = [sys.executable, "-I", "-S", "-c", {code!r}]
run_compiler(command, Path({str(folder)!r}), grace_seconds=0.2)
"""
    parent = subprocess.Popen([sys.executable, "-c", script])
    running = wait_for(pids)
    os.kill(parent.pid, number)
    parent.wait()
    assert_gone(running)
    deadline = time.monotonic() + 10
    while folder.exists():
        assert time.monotonic() < deadline, "the working folder was left behind"
        time.sleep(0.05)


@pytest.mark.multiprocess
@pytest.mark.parametrize(("word", "remains"), [(b"", False), (b".", True)])
def test_input_that_ends_without_a_word_is_a_parents_death(
    tmp_path: Path, word: bytes, remains: bool
) -> None:
    # Its files are closed before it stops being the parent, which this test stays.
    folder, log = tmp_path / "run", tmp_path / "log"
    folder.mkdir()
    command = (sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)")
    supervisor = subprocess.Popen(
        (sys.executable, "-I", "-S", supervise.__file__, "0.5", folder, log, *command),
        stdin=subprocess.PIPE,
    )
    supervisor.communicate(word, timeout=30)
    assert supervisor.returncode > 128  # by a signal
    assert folder.exists() == remains


@pytest.mark.multiprocess
def test_ctrl_c_on_the_terminal_ends_the_compiler(tmp_path: Path) -> None:
    folder, pids = tmp_path / "run", tmp_path / "pids"
    folder.mkdir()
    code = STUBBORN.replace('"pids', f'"{tmp_path}/pids')
    # A shell that runs the tests in the background has interrupts ignored, children's too.
    script = f"""
import signal, sys
from pathlib import Path
from neuron_compile.codegen.neuronx_cc.run_compiler import run_compiler
signal.signal(signal.SIGINT, signal.default_int_handler)
command = [sys.executable, "-I", "-S", "-c", {code!r}]
try:
    run_compiler(command, Path({str(folder)!r}), grace_seconds=0.2)
except KeyboardInterrupt:
    sys.exit(42)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    running = wait_for(pids)
    os.killpg(parent.pid, signal.SIGINT)
    assert parent.wait(30) == 42
    assert_gone(running)


def test_straggler_of_a_finished_compiler_is_killed(tmp_path: Path) -> None:
    code = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("pids", "w").write(str(child.pid))
"""
    assert run_compiler(python(code), tmp_path).exit_code == 0
    assert_gone((tmp_path / "pids").read_text())


def test_no_zombies_and_no_open_files_remain(tmp_path: Path) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    for _ in range(3):
        run_compiler(python("pass"), tmp_path)
    assert len(set(Path("/proc/self/fd").iterdir()) - before) <= 1  # the listing itself
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    assert (tmp_path / LOG_NAME).exists()
