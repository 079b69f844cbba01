"""One at a time for each key: waiting for a turn, with word of what is waited for and a limit."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.locks import HeldLock, holder_of, try_lock

if TYPE_CHECKING:
    from pathlib import Path

_FIRST_PAUSE: Final = 0.005
_LONGEST_PAUSE: Final = 0.1
_FIRST_WORD: Final = 5.0
_NEXT_WORD: Final = 60.0

Waiting = Callable[[str], None]
"""Told in words what is waited for, first after five seconds and then once a minute."""


def log_waiting(message: str) -> None:
    """A warning in the log of the cache."""
    import logging

    logging.getLogger("neuron_compile.cache").warning("%s", message)


@dataclass(slots=True)
class Turn:
    """How a turn was got: after how many seconds, whether too late, and which locks failed."""

    waited_seconds: float = 0.0
    timed_out: bool = False
    failures: list[OSError] = field(default_factory=list)


class Turns:
    """Turns by key, over lock files in each of `directories`.

    All directories are locked, in order: processes that share any one of them take turns. A
    directory that cannot be locked is passed over, since producing twice is safe and hanging is
    not.
    """

    def __init__(
        self,
        directories: Sequence[Path],
        wait_seconds: float,
        tell: Waiting,
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.directories = tuple(directories)
        self._wait_seconds = wait_seconds
        self._tell = tell
        self._clock = clock
        self._monotonic = monotonic
        self._sleep = sleep

    @contextlib.contextmanager
    def take(self, key: str, what: str) -> Iterator[Turn]:
        """Hold the turn of `key` inside the block; past the limit the block runs without it."""
        turn = Turn()
        held: list[HeldLock] = []
        start = self._monotonic()
        try:
            for directory in self.directories:
                try:
                    lock = self._wait(directory / key, what, start)
                except OSError as error:
                    turn.failures.append(error)
                    continue
                if lock is None:
                    turn.timed_out = True
                    break
                lock.note(what, self._clock())
                held.append(lock)
            turn.waited_seconds = self._monotonic() - start
            yield turn
        finally:
            for lock in reversed(held):
                lock.release()

    def _wait(self, path: Path, what: str, start: float) -> HeldLock | None:
        pause = _FIRST_PAUSE
        word_due = _FIRST_WORD
        while (lock := try_lock(path)) is None:
            waited = self._monotonic() - start
            if waited >= self._wait_seconds:
                self._tell(
                    f"waited {waited:.0f} s for {holder_of(path)} to produce {what}; "
                    "now producing it here too"
                )
                return None
            if waited >= word_due:
                word_due = waited + _NEXT_WORD
                self._tell(
                    f"waiting for {holder_of(path)} to produce {what}: {waited:.0f} s so far"
                )
            self._sleep(min(pause, self._wait_seconds - waited))
            pause = min(2 * pause, _LONGEST_PAUSE)
        return lock
