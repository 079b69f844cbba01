"""Work on the graph that will be asked for next, while the one that was asked for is compiled.

AOTAutograd asks for the backward graph when the forward one is done, or when the first gradient is
wanted, and knows both before. Must not know: how a graph is compiled.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from neuron_compile.observe import log

Result = TypeVar("Result")


class Meanwhile:
    """Something to do once, in this thread, while the first slow call runs in another one.

    Without anything slow it is not done: what the cache has needs no preparation.
    """

    def __init__(self, work: Callable[[], object] | None = None) -> None:
        self._work = work

    def during(self, call: Callable[[], Result]) -> Result:
        """What `call` gives. Failures of the work are logged and forgotten: whoever asks for its
        result later meets them again."""
        work, self._work = self._work, None
        if work is None:
            return call()
        running: Future[Result] = Future()
        _in_background(lambda: running.set_result(call()), running)
        try:
            work()
        except Exception:
            log.debug("a graph could not be prepared ahead of time", exc_info=True)
        return running.result()


@dataclass(frozen=True, slots=True)
class Begun(Generic[Result]):
    """The results of two steps, the second of which needs the first, on their way in a thread of
    the process `owner`."""

    first: Future[Result] = field(default_factory=Future)
    second: Future[Result] = field(default_factory=Future)
    owner: int = field(default_factory=os.getpid)


class BegunWork(Generic[Result]):
    """What was begun and not asked for yet. Thread-safe."""

    def __init__(self) -> None:
        self._begun: dict[Hashable, Begun[Result]] = {}

    def begin(
        self, key: Hashable, first: Callable[[], Result], second: Callable[[Result], Result]
    ) -> None:
        """Do both steps in the background; `take` with an equal `key` gives their results."""
        begun: Begun[Result] = Begun()
        self._begun[key] = begun

        def run() -> None:
            result = first()
            begun.first.set_result(result)
            begun.second.set_result(second(result))

        _in_background(run, begun.first, begun.second)

    def take(self, key: Hashable) -> Begun[Result] | None:
        """What was begun for `key`, once. Nothing in a forked child: the thread that is at it is
        the parent's."""
        begun = self._begun.pop(key, None)
        return begun if begun is not None and begun.owner == os.getpid() else None


def _in_background(call: Callable[[], None], *futures: Future[Result]) -> None:
    """Run `call` in a thread that keeps no process from ending; what it raises becomes the outcome
    of those `futures` that have none."""

    def run() -> None:
        try:
            call()
        except BaseException as error:
            for future in futures:
                if not future.done():
                    future.set_exception(error)

    threading.Thread(target=run, name="neuron-compile ahead", daemon=True).start()
