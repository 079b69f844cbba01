"""Locks that the kernel releases when their holder dies, however it dies.

`flock` on a file that is only ever opened: its existence means nothing. A lock file is removed only
by a holder of its lock, and who gets a lock checks that the file is still the one at its path.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import threading
import weakref
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.disk import make_directory, retried

if TYPE_CHECKING:
    from pathlib import Path

_LONGEST_NOTE: Final = 4096
_ATTEMPTS: Final = 50


class HeldLock:
    """A lock of this process on the file at `path`, until `release`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        _open_locks.add(self)

    def note(self, what: str, since: float) -> None:
        """Leave word of who holds the lock and for what, for those who wait. Never fails."""
        text = json.dumps(
            {"pid": os.getpid(), "host": os.uname().nodename, "what": what, "since": since}
        )
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, text.encode()[:_LONGEST_NOTE], 0)

    def release(self, *, remove: bool = False) -> None:
        """Give the lock up; with `remove` the file goes first, while nobody else can hold it."""
        if self._descriptor < 0:
            return
        if remove:
            with contextlib.suppress(OSError):
                self.path.unlink()
        # Unlocked by word, not by closing alone: a child forked meanwhile may share the descriptor.
        with contextlib.suppress(OSError):
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self.forget()

    def forget(self) -> None:
        """Close without unlocking: what a forked child does with its parent's locks."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                os.close(descriptor)


_open_locks: weakref.WeakSet[HeldLock] = weakref.WeakSet()


def _forget_all() -> None:
    # Else a lock would outlive its killed holder for as long as a data-loading child of it runs.
    for lock in list(_open_locks):
        lock.forget()


os.register_at_fork(after_in_child=_forget_all)


def try_lock(path: Path, *, create: bool = True) -> HeldLock | None:
    """The lock on `path` if it is free now, else `None`.

    The file is made if it is missing, or with `create=False` that is an error. Raises `OSError` if
    it cannot be locked at all.
    """
    for _ in range(_ATTEMPTS):
        descriptor = retried(lambda: _open(path, os.O_CREAT if create else 0))
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(path, descriptor):
                return HeldLock(path, descriptor)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # the file was removed between opening and locking: take the new one
    raise OSError(errno.ESTALE, "lock file keeps vanishing", str(path))


def holder_of(path: Path) -> str:
    """Who holds the lock on `path`, in words, as far as it left word."""
    try:
        note = json.loads(path.read_bytes()[:_LONGEST_NOTE])
        return f"process {int(note['pid'])} on {str(note['host'])[:64]} ({str(note['what'])[:200]})"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"


def _open(path: Path, creating: int) -> int:
    flags = creating | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, os.O_RDWR | flags, 0o666)
    except FileNotFoundError:
        if not creating:
            raise
        make_directory(path.parent)
        return os.open(path, os.O_RDWR | flags, 0o666)
    except PermissionError:
        # Another user's lock file in a shared store: reading rights are enough for a local flock.
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


class Reentry(threading.local):
    """The keys this thread is producing: asking for one of them again must not wait for itself."""

    def __init__(self) -> None:
        self.keys: set[str] = set()
