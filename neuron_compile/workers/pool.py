"""A few workers, started when they are wanted, replaced when they are lost, ended when idle."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from neuron_compile.workers.frames import Frame
from neuron_compile.workers.launch import WORKER_MODULE, decisive_environment
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.process import WorkerLostError, WorkerProcess
from neuron_compile.workers.request import Request

log = logging.getLogger("neuron_compile.workers")

# A request whose workers are lost before they begin is tried so often.
_TRIES: Final = 3
_LOOK_SECONDS: Final = 1.0


class WorkersUnavailableError(Exception):
    """No worker process can be started on this machine."""


class PoolClosedError(Exception):
    """The pool was closed, because the process ends."""


@dataclass(frozen=True, slots=True)
class Retirement:
    """When a worker is ended to give its memory back: after so many seconds without work, so many
    actions, or when it occupies so many bytes between two actions."""

    idle_seconds: float = 60.0
    action_count: int = 200
    resident_bytes: int = 2_000_000_000


class WorkerPool:
    """At most `size` workers. Thread-safe.

    A thread of the pool starts them, since the kernel ends a worker with the thread that started
    it. `clock` gives seconds and only decides about idleness.
    """

    def __init__(
        self,
        size: int,
        *,
        retirement: Retirement | None = None,
        clock: Callable[[], float] = time.monotonic,
        module: str = WORKER_MODULE,
    ) -> None:
        self.size = size
        self._retirement = retirement or Retirement()
        self._clock = clock
        self._module = module
        self._changed = threading.Condition()
        self._idle: list[tuple[WorkerProcess, float]] = []
        self._all: set[WorkerProcess] = set()
        self._wanted = 0
        self._start_failure: Exception | None = None
        self._is_closed = False
        self._keeper: threading.Thread | None = None

    def warm(self, count: int = 1) -> None:
        """Have at least `count` workers (or `size`) on their way, without waiting for them."""
        with self._changed:
            self._want(min(count, self.size))

    def run(self, request: Request, limits: ActionLimits) -> Frame:
        """The answer to a request, by the next free worker: see `WorkerProcess.carry_out`.

        A worker that was lost before it began is replaced without a word, and one that somebody
        else killed in the middle once. Raises `WorkerLostError`, `WorkersUnavailableError`,
        `PoolClosedError`.
        """
        was_killed = False
        for attempt in range(1, _TRIES + 1):
            worker = self._take()
            try:
                answer = worker.carry_out(request, limits)
            except WorkerLostError as lost:
                self._discard(worker)
                is_last = attempt == _TRIES or (lost.had_begun and was_killed)
                if is_last or not lost.came_from_outside:
                    if not lost.had_begun:
                        raise WorkersUnavailableError(f"{lost}\n{lost.output}") from lost
                    raise
                was_killed |= lost.had_begun
                log.info("%s (%s); trying again", lost, request.action)
                continue
            except BaseException:
                self._discard(worker)
                raise
            if answer.kind == "stale":
                self._discard(worker)
            else:
                self._give_back(worker)
            return answer
        raise AssertionError("the last try returns or raises")

    def retire_idle(self) -> None:
        """End the workers that have been idle for too long, and bury those that died meanwhile."""
        with self._changed:
            limit = self._clock() - self._retirement.idle_seconds
            old = [worker for worker, since in self._idle if since <= limit or not worker.is_alive]
            self._idle = [(worker, since) for worker, since in self._idle if worker not in old]
            self._all -= set(old)
        for worker in old:
            worker.end()

    @property
    def pids(self) -> list[int]:
        """The process numbers of the workers that run."""
        with self._changed:
            return sorted(worker.pid for worker in self._all if worker.is_alive)

    def close(self) -> None:
        """End all workers at once; who waits for a busy one gets `PoolClosedError`."""
        with self._changed:
            self._is_closed = True
            idle = [worker for worker, _ in self._idle]
            busy = self._all.difference(idle)
            self._all.clear()
            self._idle.clear()
            self._changed.notify_all()
        for worker in idle:
            worker.end()
        for worker in busy:
            worker.kill()

    def forget(self) -> None:
        """In a forked child: let go of the parent's workers without touching them."""
        self._is_closed = True
        for worker in list(self._all):
            worker.forget()

    def _take(self) -> WorkerProcess:
        current = decisive_environment()
        with self._changed:
            while True:
                if self._is_closed:
                    raise PoolClosedError("the pool of workers was closed")
                if self._start_failure is not None:
                    failure, self._start_failure = self._start_failure, None
                    reason = f"{type(failure).__qualname__}: {failure}"
                    raise WorkersUnavailableError(reason) from failure
                while self._idle:
                    worker, _ = self._idle.pop()
                    if worker.environment == current and worker.is_alive:
                        return worker
                    self._all.discard(worker)
                    worker.end()
                self._want(len(self._all) + 1)
                if self._start_failure is None:
                    self._changed.wait(_LOOK_SECONDS)

    def _give_back(self, worker: WorkerProcess) -> None:
        said = worker.take_said()
        if said:
            log.debug("worker %d printed:\n%s", worker.pid, said)
        rule = self._retirement
        if worker.action_count >= rule.action_count or worker.resident_bytes > rule.resident_bytes:
            self._discard(worker)
            return
        with self._changed:
            if not self._is_closed:
                self._idle.append((worker, self._clock()))
            self._changed.notify_all()

    def _discard(self, worker: WorkerProcess) -> None:
        with self._changed:
            self._all.discard(worker)
            self._changed.notify_all()
        worker.end()

    def _want(self, count: int) -> None:
        """With the lock held: have the keeper start workers until there are `count`."""
        self._wanted = max(self._wanted, min(count, self.size))
        if self._keeper is None or not self._keeper.is_alive():
            self._keeper = threading.Thread(
                target=self._keep, name="neuron-compile workers", daemon=True
            )
            try:
                self._keeper.start()
            except RuntimeError as error:  # The machine gives no more threads.
                self._start_failure = error
        self._changed.notify_all()

    def _keep(self) -> None:
        """The keeper's loop: starts what is wanted, ends what is idle."""
        while True:
            with self._changed:
                if self._is_closed:
                    return
                is_wanted = len(self._all) < self._wanted
                if not is_wanted:
                    self._wanted = 0
                    self._changed.wait(_LOOK_SECONDS if self._idle else None)
            if is_wanted:
                self._start_one()
            self.retire_idle()

    def _start_one(self) -> None:
        try:
            worker = WorkerProcess(self._module)
        # Whatever it is: who waits for a worker must hear of it.
        except Exception as error:
            with self._changed:
                self._start_failure = error
                self._wanted = 0
                self._changed.notify_all()
            return
        with self._changed:
            is_late = self._is_closed
            if not is_late:
                self._all.add(worker)
                self._idle.append((worker, self._clock()))
            self._changed.notify_all()
        if is_late:
            worker.end()
