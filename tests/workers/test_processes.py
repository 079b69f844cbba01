"""Workers of processes of every kind: scripts without a guard, forked and daemonic ones, killed
ones. Each test runs a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.multiprocess

TESTS = Path(__file__).parents[1]

PREAMBLE = """
import sys
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.pool import WorkerPool
from neuron_compile.workers.pools import pool_of
from neuron_compile.workers import pools
from neuron_compile.workers.request import Request
import functools
pools.WorkerPool = functools.partial(WorkerPool, module="workers.faulty")
LIMITS = ActionLimits(None, 60)
def run(action, **inputs):
    return pool_of(2).run(Request(action, inputs), LIMITS).blobs
def pid():
    return int(run("pid")["pid"])
"""


def start(body: str, tmp_path: Path, *options: str) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    script.write_text(PREAMBLE + body)
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    return subprocess.Popen(
        [sys.executable, *options, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=tmp_path,
    )


def output(body: str, tmp_path: Path, *options: str) -> str:
    process = start(body, tmp_path, *options)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert err == ""
    return out


def wait_until_gone(pid: int, seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while Path(f"/proc/{pid}").exists() and "Z" not in _state(pid):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    out = output('print("line"); print(len({pid(), pid()}))', tmp_path)
    assert out == "line\n1\n"


def test_program_from_standard_input_and_folder_full_of_namesakes(tmp_path: Path) -> None:
    for name in ("jax", "json", "numpy", "lowering", "workers"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('the wrong module')")
    code = PREAMBLE.replace('module="workers.faulty"', "") + (
        "pool_of(1).warm(); answer = pool_of(1).run(Request('none', {}), LIMITS)\n"
        "print(answer.kind, 'KeyError' in str(answer.values))"
    )
    # The interpreter's own current folder is not searched: -P.
    done = subprocess.run(
        [sys.executable, "-P", "-"],
        input=code,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("failed True\n", "")


def test_warnings_of_the_user_are_no_errors_of_the_worker(tmp_path: Path) -> None:
    assert output("print(pid() > 0)", tmp_path, "-W", "error", "-X", "dev") == "True\n"


def test_end_of_the_process_ends_idle_and_busy_workers_at_once(tmp_path: Path) -> None:
    body = """
import threading, time
first = pid()
threading.Thread(target=lambda: run("spin"), daemon=True).start()
time.sleep(0.3)
second = pid()
print(first, second, flush=True)
"""
    began = time.monotonic()
    process = start(body, tmp_path)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert time.monotonic() - began < 40
    assert all(wait_until_gone(int(pid), 1.0) for pid in out.split())


def test_killed_process_leaves_no_worker_even_one_in_native_code(tmp_path: Path) -> None:
    body = """
import threading, time
print(pid(), flush=True)
threading.Thread(target=lambda: run("spin")).start()
time.sleep(60)
"""
    process = start(body, tmp_path)
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert wait_until_gone(worker)


def test_worker_ends_when_its_input_closes(tmp_path: Path) -> None:
    body = """
import os
worker = pid()
pool = pool_of(2)
(process,) = pool._all
process._channel.close()
process._process.wait(30)
print(process._process.returncode)
"""
    assert output(body, tmp_path) == "0\n"


def test_threads_that_start_workers_may_end(tmp_path: Path) -> None:
    # The kernel's "end with the parent" means the thread that started the process.
    body = """
import threading
seen = []
thread = threading.Thread(target=lambda: seen.append(pid()))
thread.start(); thread.join()
import time; time.sleep(0.2)
print(seen == [pid()])
"""
    assert output(body, tmp_path) == "True\n"


def test_forked_child_gets_workers_of_its_own(tmp_path: Path) -> None:
    body = """
import os
mine = pid()
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.write(writer, str(pid()).encode())
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
theirs = int(os.read(reader, 100))
print(theirs != mine, pid() == mine)
import time; time.sleep(0.5)
print(os.path.exists(f"/proc/{theirs}") and open(f"/proc/{theirs}/stat").read().split()[2] != "Z")
"""
    assert output(body, tmp_path) == "0\nTrue True\nFalse\n"


def test_fork_while_an_action_runs_disturbs_neither(tmp_path: Path) -> None:
    body = """
import os, threading, time
answers = []
thread = threading.Thread(target=lambda: answers.append(run("sleep", seconds=b"1.0")))
pid()
thread.start()
time.sleep(0.3)
child = os.fork()
if child == 0:
    os._exit(0 if pid() > 0 else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
thread.join()
print(len(answers))
"""
    assert output(body, tmp_path) == "0\n1\n"


def test_daemonic_process_has_workers_and_leaves_none(tmp_path: Path) -> None:
    body = """
import multiprocessing, os
def work(queue):
    queue.put(pid())
context = multiprocessing.get_context("fork")
queue = context.SimpleQueue()
process = context.Process(target=work, args=(queue,), daemon=True)
process.start()
process.join(60)
print(process.exitcode, os.path.exists(f"/proc/{queue.get()}"))
"""
    assert output(body, tmp_path) == "0 False\n"


def test_interrupted_action_takes_its_worker_with_it(tmp_path: Path) -> None:
    body = """
import os, signal, threading
# A shell that runs the tests in the background has interrupts ignored, children's too.
signal.signal(signal.SIGINT, signal.default_int_handler)
first = pid()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    run("spin")
except KeyboardInterrupt:
    print("interrupted", os.path.exists(f"/proc/{first}"), pid() != first)
"""
    assert output(body, tmp_path) == "interrupted False True\n"


def test_interrupt_from_the_terminal_leaves_idle_workers_alone(tmp_path: Path) -> None:
    body = """
import os, signal, time
first = pid()
os.kill(first, signal.SIGINT)
time.sleep(0.2)
print(pid() == first)
"""
    assert output(body, tmp_path) == "True\n"


def test_program_that_restored_the_default_of_sigpipe_survives_a_dead_worker(
    tmp_path: Path,
) -> None:
    body = """
import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
first = pid()
(process,) = pool_of(2)._all
os.kill(first, signal.SIGKILL)
from neuron_compile.workers.process import WorkerLostError
try:
    process.carry_out(Request("echo", {"data": bytes(10_000_000)}), LIMITS)
except WorkerLostError as error:
    print(error.reason)
"""
    assert output(body, tmp_path) == "the worker was ended by signal 9 (SIGKILL)\n"
