"""Guards that a forked child finds open, even if another thread held them at the fork."""

from __future__ import annotations

import os
import threading
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType


class Guard:
    """A mutual exclusion lock for a few instructions; a forked child starts with a fresh one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder = 0
        _guards.add(self)

    def renew(self) -> None:
        """Replace the lock: in a child, whoever held it does not exist, but for the thread that
        forked."""
        if self._holder != threading.get_ident():
            self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()
        self._holder = threading.get_ident()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._holder = 0
        self._lock.release()


_guards: weakref.WeakSet[Guard] = weakref.WeakSet()


def _renew_all() -> None:
    for guard in list(_guards):
        guard.renew()


os.register_at_fork(after_in_child=_renew_all)
