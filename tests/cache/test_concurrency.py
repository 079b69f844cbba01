"""Many processes and threads, one store: a key is produced once, and nobody waits for the dead."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import ActionCache, CachePolicy, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cache_actors import Actions, Fork, Say

pytestmark = pytest.mark.multiprocess


def _produce_once_each(
    store: Path, locks: list[Path], fork: Fork, actions: Actions, tally: Path
) -> int:
    def work(number: int) -> Callable[[Say], None]:
        def run(say: Say) -> None:
            policy = CachePolicy(locks_directory=locks[number % len(locks)], wait_seconds=60)
            cache = ActionCache(store, policy=policy)
            for step in range(8):
                wanted = (step + number) % 8

                def produce(wanted: int = wanted) -> dict[str, bytes]:
                    with tally.open("ab", buffering=0) as stream:
                        stream.write(b"%d\n" % wanted)
                    threading.Event().wait(0.02)  # long enough for all the others to arrive
                    return actions.blobs(wanted)

                result = cache.get_or_produce(actions.key(wanted), produce)
                assert dict(result.blobs) == actions.blobs(wanted)

        return run

    children = [fork(work(number)) for number in range(16)]
    for child in children:
        child.join()
        assert child.status == 0
    return len(tally.read_bytes().splitlines())


def test_sixteen_processes_produce_eight_keys_eight_times(
    store: Path, tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    assert _produce_once_each(store, [tmp_path / "locks"], fork, actions, tmp_path / "tally") == 8
    assert ActionCache(store).check().is_clean


def test_processes_with_lock_directories_of_their_own_still_take_turns(
    store: Path, tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    locks = [tmp_path / f"locks-{number}" for number in range(16)]
    assert _produce_once_each(store, locks, fork, actions, tmp_path / "tally") == 8


def test_processes_that_share_the_lock_directory_only_take_turns(
    store: Path, tmp_path: Path, fork: Fork, actions: Actions, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a network file system, whose own locks are not trusted.
    monkeypatch.setattr("neuron_compile.cache.local_tier.has_coherent_locks", lambda _: False)
    assert _produce_once_each(store, [tmp_path / "locks"], fork, actions, tmp_path / "tally") == 8
    assert not (store / "locks").exists()


def test_threads_of_one_process_produce_a_key_once(
    store: Path, tmp_path: Path, actions: Actions
) -> None:
    cache = ActionCache(store, policy=CachePolicy(locks_directory=tmp_path / "locks"))
    produced: list[int] = []
    everyone = threading.Barrier(12)
    wrong: list[int] = []

    def run(number: int) -> None:
        everyone.wait()
        wanted = number % 3

        def produce() -> dict[str, bytes]:
            produced.append(wanted)
            return actions.blobs(wanted)

        result = cache.get_or_produce(actions.key(wanted), produce)
        if dict(result.blobs) != actions.blobs(wanted):
            wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(produced) == [0, 1, 2]
    assert not wrong
    assert cache.counters["hits"] == 9


@pytest.mark.parametrize("has_store_locks", [True, False])
def test_a_killed_holder_frees_its_key_at_once(
    store: Path, tmp_path: Path, fork: Fork, actions: Actions, has_store_locks: bool
) -> None:
    policy = CachePolicy(
        locks_directory=tmp_path / "locks", store_locks=has_store_locks, wait_seconds=600
    )

    def hold(say: Say) -> None:
        def produce() -> dict[str, bytes]:
            say("producing")
            threading.Event().wait()
            return {}

        ActionCache(store, policy=policy).get_or_produce(actions.key(1), produce)

    holder = fork(hold)
    holder.wait_for("producing")
    waiter = fork(
        lambda say: say(
            ActionCache(store, policy=policy)
            .get_or_produce(actions.key(1), actions.producer(1))
            .outcome
        )
    )
    holder.kill()
    holder.join()
    assert waiter.join(10) == [Outcome.PRODUCED]


def test_a_child_of_the_killed_holder_does_not_keep_its_lock(
    store: Path, tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks", wait_seconds=600)
    stop = tmp_path / "stop"

    def hold(say: Say) -> None:
        def produce() -> dict[str, bytes]:
            if os.fork() == 0:  # as a data loader does
                while not stop.exists():
                    threading.Event().wait(0.01)
                os._exit(0)
            say("producing")
            threading.Event().wait()
            return {}

        ActionCache(store, policy=policy).get_or_produce(actions.key(1), produce)

    holder = fork(hold)
    holder.wait_for("producing")
    holder.kill()
    waiter = fork(
        lambda say: say(
            ActionCache(store, policy=policy)
            .get_or_produce(actions.key(1), actions.producer(1))
            .outcome
        )
    )
    try:
        assert waiter.join(10) == [Outcome.PRODUCED]
    finally:
        stop.touch()


def test_past_the_limit_a_waiter_produces_itself_and_says_for_whom_it_waited(
    store: Path, tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks", wait_seconds=0.2)

    def hold(say: Say) -> None:
        def produce() -> dict[str, bytes]:
            say("producing")
            threading.Event().wait()
            return {}

        ActionCache(store, policy=policy).get_or_produce(actions.key(1), produce, what="big graph")

    holder = fork(hold)
    holder.wait_for("producing")
    told: list[str] = []
    cache = ActionCache(store, policy=policy, on_wait=told.append)
    result = cache.get_or_produce(actions.key(1), actions.producer(1), what="big graph")
    assert result.outcome is Outcome.PRODUCED
    assert cache.counters["wait_timeouts"] == 1
    assert len(told) == 1
    assert f"process {holder.pid}" in told[0]
    assert "big graph" in told[0]


def test_a_failure_is_not_remembered_by_the_next_process(
    store: Path, tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks")

    def fail(say: Say) -> None:
        def produce() -> dict[str, bytes]:
            raise MemoryError("compiler killed")

        try:
            ActionCache(store, policy=policy).get_or_produce(actions.key(1), produce)
        except MemoryError as error:
            say(str(error))

    assert fork(fail).join() == ["compiler killed"]
    result = ActionCache(store, policy=policy).get_or_produce(actions.key(1), actions.producer(1))
    assert result.outcome is Outcome.PRODUCED


def test_asking_for_the_key_being_produced_does_not_wait_for_itself(
    store: Path, tmp_path: Path, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks", wait_seconds=60)
    cache = ActionCache(store, policy=policy)
    inner = lambda: cache.get_or_produce(actions.key(1), actions.producer(1)).blobs  # noqa: E731
    assert dict(cache.get_or_produce(actions.key(1), inner).blobs) == actions.blobs(1)


def test_clearing_while_others_publish_harms_neither(
    store: Path, tmp_path: Path, fork: Fork, actions: Actions
) -> None:
    policy = CachePolicy(locks_directory=tmp_path / "locks")

    def publish(say: Say) -> None:
        cache = ActionCache(store, policy=policy)
        for number in range(60):
            result = cache.get_or_produce(actions.key(number), actions.producer(number))
            assert dict(result.blobs) == actions.blobs(number)

    writers = [fork(publish) for _ in range(3)]
    cleaner = ActionCache(store, policy=policy)
    for _ in range(20):
        cleaner.clear()
    for writer in writers:
        writer.join()
        assert writer.status == 0
    cleaner.check(repair=True)
    assert cleaner.check().is_clean
