"""When workers start and end: on demand, in the background, after idleness, at close."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.pool import (
    PoolClosedError,
    Retirement,
    WorkerPool,
    WorkersUnavailableError,
)
from neuron_compile.workers.process import WorkerProcess
from neuron_compile.workers.request import Request
from workers.conftest import FAULTY

pytestmark = pytest.mark.multiprocess

LIMITS = ActionLimits(None, 60)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def worker_of(pool: WorkerPool) -> int:
    return int(pool.run(Request("pid", {}), LIMITS).blobs["pid"])


def wait_until(condition: object, seconds: float = 30.0) -> bool:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def test_nothing_runs_before_it_is_wanted(pool: WorkerPool) -> None:
    assert pool.pids == []


def test_warm_does_not_wait_for_a_worker_to_start(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_start = threading.Event()

    def start(module: str) -> WorkerProcess:
        assert may_start.wait(60)
        return WorkerProcess(module)

    monkeypatch.setattr("neuron_compile.workers.pool.WorkerProcess", start)
    pool.warm()
    assert pool.pids == []
    may_start.set()
    assert wait_until(lambda: len(pool.pids) == 1)


def test_warm_starts_what_is_asked_for(pool: WorkerPool) -> None:
    pool.warm()
    assert wait_until(lambda: len(pool.pids) == 1)
    pool.warm(5)
    assert wait_until(lambda: len(pool.pids) == 2)
    assert worker_of(pool) in pool.pids


def test_one_after_the_other_takes_one_worker(pool: WorkerPool) -> None:
    assert len({worker_of(pool) for _ in range(5)}) == 1
    assert len(pool.pids) == 1


def test_two_actions_run_at_the_same_time_and_a_third_waits(pool: WorkerPool) -> None:
    request = Request("sleep", {"seconds": b"0.4"})
    with ThreadPoolExecutor(3) as threads:
        answers = list(threads.map(lambda _: pool.run(request, LIMITS), range(3)))
    assert len({answer.blobs["pid"] for answer in answers}) == 2
    assert len(pool.pids) == 2


def test_idle_workers_end_and_new_ones_come_when_needed() -> None:
    clock = Clock()
    pool = WorkerPool(1, retirement=Retirement(idle_seconds=60), clock=clock, module=FAULTY)
    try:
        first = worker_of(pool)
        clock.now += 59
        pool.retire_idle()
        assert pool.pids == [first]
        clock.now += 1
        # By the pool's own thread.
        assert wait_until(lambda: not Path(f"/proc/{first}").exists())
        assert worker_of(pool) != first
    finally:
        pool.close()


def test_worker_is_replaced_after_its_number_of_actions() -> None:
    pool = WorkerPool(1, retirement=Retirement(action_count=3), module=FAULTY)
    try:
        pids = [worker_of(pool) for _ in range(6)]
    finally:
        pool.close()
    assert len(set(pids[:3])) == len(set(pids[3:])) == 1
    assert pids[0] != pids[3]


def test_worker_that_keeps_memory_is_replaced() -> None:
    pool = WorkerPool(1, retirement=Retirement(resident_bytes=1000), module=FAULTY)
    try:
        first = worker_of(pool)
        assert not Path(f"/proc/{first}").exists()
    finally:
        pool.close()


def test_changed_flags_of_xla_reach_the_next_action(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = worker_of(pool)
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    seen = pool.run(Request("environment", {}), LIMITS).blobs["XLA_FLAGS"]
    assert seen == b"--xla_cpu_enable_fast_math=false"
    assert first not in pool.pids


def test_environment_of_an_action_is_the_callers(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = worker_of(pool)
    for value in ("a", "b", None):
        if value is None:
            monkeypatch.delenv("NEURON_TEST")
        else:
            monkeypatch.setenv("NEURON_TEST", value)
        seen = pool.run(Request("environment", {}), LIMITS).blobs
        assert seen["NEURON_TEST"].decode() == (value or "")
        # Ours to find the packages, not for the programs that a worker starts.
        assert seen["PYTHONPATH"].decode() == os.environ.get("PYTHONPATH", "")
    assert pool.pids == [first]


def test_close_ends_idle_and_busy_workers_at_once(pool: WorkerPool) -> None:
    worker_of(pool)
    outcomes: list[BaseException] = []

    def long() -> None:
        try:
            pool.run(Request("spin", {}), LIMITS)
        except BaseException as error:
            outcomes.append(error)

    thread = threading.Thread(target=long)
    thread.start()
    pids = pool.pids
    assert wait_until(lambda: len(pool.pids) == 1)
    pool.close()
    thread.join(30)
    assert not thread.is_alive()
    assert [type(outcome) for outcome in outcomes] == [PoolClosedError]
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    with pytest.raises(PoolClosedError):
        worker_of(pool)


def test_worker_that_cannot_be_started_is_reported() -> None:
    pool = WorkerPool(1, module="workers.no_such_module")
    try:
        with pytest.raises(WorkersUnavailableError, match="no_such_module"):
            worker_of(pool)
    finally:
        pool.close()


@pytest.mark.parametrize("kind", [ValueError, MemoryError, OSError])
def test_whatever_keeps_a_worker_from_starting_is_reported(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    def start(_module: str) -> WorkerProcess:
        raise kind("scipy.__spec__ is None")

    with monkeypatch.context() as patch:
        patch.setattr("neuron_compile.workers.pool.WorkerProcess", start)
        with pytest.raises(WorkersUnavailableError, match=f"{kind.__name__}: scipy.__spec__"):
            worker_of(pool)
    assert worker_of(pool) in pool.pids


def test_machine_without_another_thread_is_reported(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(WorkersUnavailableError, match="can't start new thread"):
            worker_of(pool)
    assert worker_of(pool) in pool.pids


def test_answer_is_taken_when_it_comes_not_at_the_next_look(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neuron_compile.workers.process._TICK_SECONDS", 3600.0)
    request = Request("echo", {"data": bytes(100_000)})
    for _ in range(50):
        assert pool.run(request, LIMITS).kind == "done"
    assert len(pool.pids) == 1


def test_large_blobs_arrive_whole(pool: WorkerPool) -> None:
    data = bytes(range(256)) * 100_000
    assert pool.run(Request("echo", {"a": data, "b": b""}), LIMITS).blobs == {"a": data, "b": b""}
