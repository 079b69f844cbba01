"""Locks that another thread holds at a fork do not stop the child."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from neuron_compile.compile_report import Reporter
from neuron_compile.pjrt import lapack
from neuron_compile.runtime.nrt import runtime as nrt
from neuron_compile.runtime.nrt.executable import NrtExecutable
from neuron_compile.warm_start.output_code import StorableCode


class _Runtime:
    """Usable in the process that made it, as a real one."""

    def __init__(self) -> None:
        self._process = os.getpid()

    @property
    def is_usable(self) -> bool:
        return os.getpid() == self._process


def _executable() -> Any:
    made: Any = NrtExecutable.__new__(NrtExecutable)
    made._runtime, made._lock, made._model = _Runtime(), threading.Lock(), None
    made._tensors, made._sets = [], []
    return made


def _child_ends(held: AbstractContextManager[Any], work: Callable[[], object]) -> bool:
    """Whether `work` ends in a child that was forked while another thread held a lock."""
    is_held, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with held:
            is_held.set()
            may_end.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert is_held.wait(60)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(10)
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    may_end.set()
    thread.join()
    return os.WIFEXITED(status)


def _code() -> Any:
    return StorableCode(None, lambda: lambda _inputs: [])


@pytest.mark.parametrize(
    ("make", "work"),
    [
        (_executable, lambda made: made.close()),
        (Reporter, lambda made: made.report()),
        (_code, lambda made: made.compile_now()),
    ],
    ids=["nrt executable", "report", "stored code"],
)
def test_child_takes_the_lock_of_an_object(
    make: Callable[[], Any], work: Callable[[Any], object]
) -> None:
    made = make()
    assert _child_ends(made._lock, lambda: work(made))


@pytest.mark.parametrize("module", [lapack, nrt], ids=["lapack", "nrt runtime"])
def test_child_takes_the_lock_of_a_module(module: Any) -> None:
    def work() -> None:
        with module._lock:
            pass

    assert _child_ends(module._lock, work)
