"""Work on the next graph while one is compiled."""

from __future__ import annotations

import os
import threading

import pytest

from neuron_compile.ahead import BegunWork, Meanwhile


def test_work_is_done_once_while_the_call_runs() -> None:
    has_worked = threading.Event()
    done: list[str] = []

    def work() -> None:
        done.append("work")
        has_worked.set()

    meanwhile = Meanwhile(work)
    # The call ends only because the work is done beside it.
    assert meanwhile.during(lambda: has_worked.wait(30))
    assert meanwhile.during(lambda: "second") == "second"
    assert done == ["work"]


def test_work_is_done_in_the_callers_thread() -> None:
    threads: list[threading.Thread] = []
    Meanwhile(lambda: threads.append(threading.current_thread())).during(lambda: None)
    assert threads == [threading.current_thread()]


def test_call_without_work_stays_in_its_thread() -> None:
    assert Meanwhile().during(threading.current_thread) is threading.current_thread()


def test_failure_of_the_call_is_raised_and_that_of_the_work_is_not() -> None:
    def fail() -> None:
        raise KeyError("work")

    assert Meanwhile(fail).during(lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        Meanwhile(fail).during(lambda: 1 / 0)


def test_both_steps_are_delivered_once() -> None:
    work: BegunWork[str] = BegunWork()
    work.begin("key", lambda: "a", lambda first: first + "b")
    assert work.take("other") is None
    begun = work.take("key")
    assert begun is not None
    assert (begun.first.result(30), begun.second.result(30)) == ("a", "ab")
    assert work.take("key") is None


def test_first_step_is_delivered_before_the_second_ends() -> None:
    go_on = threading.Event()
    work: BegunWork[int] = BegunWork()
    work.begin("key", lambda: 1, lambda first: first + go_on.wait(30))
    begun = work.take("key")
    assert begun is not None
    assert begun.first.result(30) == 1
    assert not begun.second.done()
    go_on.set()
    assert begun.second.result(30) == 2


def test_failure_comes_to_who_asks() -> None:
    def fail(_: int = 0) -> int:
        raise ZeroDivisionError

    work: BegunWork[int] = BegunWork()
    work.begin("first", fail, fail)
    work.begin("second", lambda: 1, fail)
    first, second = work.take("first"), work.take("second")
    assert first is not None
    assert second is not None
    with pytest.raises(ZeroDivisionError):
        first.first.result(30)
    assert second.first.result(30) == 1
    with pytest.raises(ZeroDivisionError):
        second.second.result(30)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_child_does_not_wait_for_the_parents_thread() -> None:
    go_on = threading.Event()
    work: BegunWork[bool] = BegunWork()
    work.begin("key", lambda: go_on.wait(60), lambda first: first)
    child = os.fork()
    if child == 0:
        os._exit(0 if work.take("key") is None else 3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    go_on.set()
    begun = work.take("key")
    assert begun is not None
    assert begun.second.result(30)
