"""Each way in which an action can take its worker down, and the pool that heals."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from neuron_compile.workers.error_codec import ForeignError, decode_error
from neuron_compile.workers.frames import Frame
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.pool import WorkerPool
from neuron_compile.workers.process import WorkerLostError
from neuron_compile.workers.request import Request

pytestmark = pytest.mark.multiprocess

MEGABYTE = 1_000_000
FREE = ActionLimits(memory_bytes=None, seconds=60)


def run(pool: WorkerPool, action: str, limits: ActionLimits = FREE, **inputs: bytes) -> Frame:
    return pool.run(Request(action, inputs), limits)


def worker_of(pool: WorkerPool) -> int:
    return int(run(pool, "pid").blobs["pid"])


def is_gone(pid: int) -> bool:
    """Whether the process is neither there nor a zombie."""
    return not Path(f"/proc/{pid}").exists()


def lost(pool: WorkerPool, action: str, limits: ActionLimits = FREE) -> WorkerLostError:
    before = worker_of(pool)
    with pytest.raises(WorkerLostError) as raised:
        run(pool, action, limits)
    assert raised.value.had_begun
    assert is_gone(before)
    assert run(pool, "echo", data=b"healed").blobs == {"data": b"healed"}
    return raised.value


def test_abort_is_named_with_the_last_words(pool: WorkerPool) -> None:
    error = lost(pool, "abort")
    assert "signal 6 (SIGABRT)" in error.reason
    assert "LLVM ERROR: this pass aborts" in error.output


def test_segmentation_fault_is_named_with_the_python_lines(pool: WorkerPool) -> None:
    error = lost(pool, "segfault")
    assert "signal 11 (SIGSEGV)" in error.reason
    assert "in segfault" in error.output


def test_exit_in_the_middle_is_named(pool: WorkerPool) -> None:
    assert "exit code 70" in lost(pool, "leave").reason


def test_memory_without_end_stops_at_the_limit(pool: WorkerPool) -> None:
    error = lost(pool, "allocate", ActionLimits(600 * MEGABYTE, 60))
    assert "more than the limit of 0.60 GB" in error.reason
    assert error.signal_number == 0


def test_native_loop_stops_at_the_time_limit(pool: WorkerPool) -> None:
    worker_of(pool)
    start = time.monotonic()
    assert "the limit of 0.5 s" in lost(pool, "spin", ActionLimits(None, 0.5)).reason
    assert time.monotonic() - start < 20


def test_endless_output_is_cut_and_stops_at_the_time_limit(pool: WorkerPool) -> None:
    error = lost(pool, "babble", ActionLimits(None, 1.0))
    assert "the limit of 1 s" in error.reason
    assert 0 < len(error.output) <= 64 * 1024


def test_progress_is_logged_ever_more_seldom(
    pool: WorkerPool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="neuron_compile.workers"):
        run(pool, "report")
    lines = [record.getMessage() for record in caplog.records]
    assert lines == [
        "compiling for 10 s: line 10",
        "compiling for 15 s: line 15",
        "compiling for 23 s: line 23",
    ]


def test_what_was_printed_is_in_the_log(pool: WorkerPool, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", logger="neuron_compile.workers"):
        run(pool, "print", text=b"native words\n")
        run(pool, "echo", data=b"")
    assert sum("native words" in record.getMessage() for record in caplog.records) == 1


def test_garbage_on_the_channel_is_refused(pool: WorkerPool) -> None:
    assert "no message" in lost(pool, "garble").reason


def test_garbage_on_standard_output_harms_nobody(
    pool: WorkerPool, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = run(pool, "print", text=b"NCW1 garbage\n" * 20_000)
    assert answer.kind == "done"
    assert capfd.readouterr() == ("", "")


def test_kill_in_the_middle_is_tried_again_once(pool: WorkerPool, tmp_path: Path) -> None:
    mark = str(tmp_path / "mark").encode()
    assert run(pool, "die_once", mark=mark).kind == "done"


def test_second_kill_is_an_error(pool: WorkerPool) -> None:
    assert "signal 9 (SIGKILL)" in lost(pool, "die").reason


def test_kill_from_outside_while_it_works(pool: WorkerPool) -> None:
    worker = worker_of(pool)
    threading.Timer(0.3, os.kill, (worker, signal.SIGKILL)).start()
    answer = run(pool, "sleep", seconds=b"0.8")
    assert int(answer.blobs["pid"]) != worker


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_death_of_an_idle_worker_goes_unnoticed(pool: WorkerPool, number: signal.Signals) -> None:
    for _ in range(3):
        worker = worker_of(pool)
        os.kill(worker, number)
        assert worker_of(pool) != worker


def test_error_of_another_class_comes_with_type_and_text(pool: WorkerPool) -> None:
    answer = run(pool, "raise")
    error = decode_error(answer.values)
    assert isinstance(error, ForeignError)
    assert str(error) == "KeyError: 'none of ours'"
    assert "in raise_" in str(error.__cause__)


def test_stopped_worker_is_given_up_at_the_time_limit(pool: WorkerPool) -> None:
    worker = worker_of(pool)
    threading.Timer(0.2, os.kill, (worker, signal.SIGSTOP)).start()
    with pytest.raises(WorkerLostError, match="longer than the limit"):
        run(pool, "sleep", ActionLimits(None, 1.0), seconds=b"0.5")
    assert is_gone(worker)
