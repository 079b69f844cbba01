"""Calls that may never return, given up after a time."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_S = TypeVar("_S")
_T = TypeVar("_T")


def call_within(seconds: float, action: Callable[[], _T]) -> _T:
    """What `action` gives or raises; `TimeoutError` if it takes longer than `seconds`.

    It runs in a daemon thread of its own. One that is given up is left alone with its result, and
    does not keep the process from ending.
    """
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(action())
        except BaseException as error:  # raised again in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=run, name="neuron-compile-cache-remote", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no answer within {seconds:.0f} s")
    return results[0]


def map_in_parallel(function: Callable[[_S], _T], items: Iterable[_S], threads: int) -> list[_T]:
    """`function` of each item, in no order, by a few daemon threads. Raises the first error."""
    waiting = deque(items)
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            while not errors:
                try:
                    item = waiting.popleft()
                except IndexError:
                    return
                results.append(function(item))
        except BaseException as error:  # raised again in the caller's thread
            errors.append(error)

    workers = [threading.Thread(target=run, daemon=True) for _ in range(min(threads, len(waiting)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    return results
