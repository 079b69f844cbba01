"""One client a process, and another one after a fork."""

from __future__ import annotations

import os
import threading

import pytest

from neuron_compile.pjrt import client as pjrt


def test_threads_share_one_client() -> None:
    seen: list[object] = []
    threads = [threading.Thread(target=lambda: seen.append(pjrt.client())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(client) for client in seen}) == 1
    assert len(seen) == 8


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_child_of_a_fork_makes_its_own_and_knows_that_it_is_another() -> None:
    parents = pjrt.client()
    generation = pjrt.generation()
    assert not pjrt.was_used_before_fork()
    with pjrt._lock:  # as if by a thread that the child does not have
        child = os.fork()
    if child == 0:
        wrong = 1
        try:
            wrong = (
                (pjrt.client() is parents)
                + 2 * (pjrt.generation() != generation + 1)
                + 4 * (not pjrt.was_used_before_fork())
            )
        finally:
            os._exit(wrong)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pjrt.client() is parents
    assert pjrt.generation() == generation
