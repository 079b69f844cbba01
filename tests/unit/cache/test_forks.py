"""Guards across a fork."""

from __future__ import annotations

import os
import threading

from neuron_compile.cache.forks import Guard


def test_a_child_finds_a_guard_open_that_a_thread_held_at_the_fork() -> None:
    guard = Guard()
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with guard:
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(10)
    pid = os.fork()
    if pid == 0:
        with guard:
            os._exit(7)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7


def test_a_child_of_the_holder_holds_it_and_leaves_it() -> None:
    guard = Guard()
    with guard:
        pid = os.fork()
        others = threading.Thread(target=lambda: guard.__enter__(), daemon=True)
        others.start()
        others.join(0.2)
        is_held = others.is_alive()
    others.join(10)
    was_left = not others.is_alive()
    if pid == 0:
        os._exit(7 if is_held and was_left else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    assert is_held
    assert was_left


def test_a_guard_lets_one_thread_in_at_a_time() -> None:
    guard = Guard()
    total = [0]

    def add() -> None:
        for _ in range(2000):
            with guard:
                seen = total[0]
                total[0] = seen + 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total[0] == 8000
