"""One client a process, and another one after a fork."""

from __future__ import annotations

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


def test_child_of_a_fork_makes_its_own_and_knows_that_it_is_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parents = pjrt.client()
    for name in ("_client", "_lock", "_generation", "_leaked"):
        monkeypatch.setattr(pjrt, name, getattr(pjrt, name))
    generation = pjrt.generation()
    with pjrt._lock:  # held by a thread that the child does not have
        pjrt._after_fork_in_child()
        assert pjrt.generation() == generation + 1
        assert pjrt.client() is not parents
    assert parents in pjrt._leaked
