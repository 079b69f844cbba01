"""A process's record of what it holds: a file that it keeps locked as long as it lives.

A lease whose lock is free belongs to a process that is gone. Nothing needs to be cleaned up by a
process that is killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.digests import is_digest
from neuron_compile.cache.disk import make_directory
from neuron_compile.cache.locks import try_lock

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ATTEMPTS: Final = 50


class Lease:
    """An open lease file, of the process that made this object and not of its forked children."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._process = os.getpid()
        status = os.fstat(descriptor)
        self._identity = (status.st_dev, status.st_ino)

    @classmethod
    def begin(cls, directory: Path, text: str) -> Lease:
        """A new locked file in `directory` with this text. Raises `OSError`."""
        make_directory(directory)
        lease = cls(*_locked_file(directory))
        try:
            lease.append(text)
        except OSError:
            lease.abandon()
            raise
        return lease

    def size(self) -> int | None:
        """The file's length in bytes; `None` if it is not this process's or no longer open.

        A process that becomes a daemon closes every descriptor, and then opens others of the same
        number.
        """
        if self._process != os.getpid():
            return None
        try:
            status = os.fstat(self._descriptor)
        except OSError:
            return None
        return status.st_size if (status.st_dev, status.st_ino) == self._identity else None

    def append(self, text: str) -> None:
        """Add whole lines. Raises `OSError`."""
        os.write(self._descriptor, text.encode())

    def abandon(self) -> None:
        """Close and remove a lease that this process has just begun."""
        os.close(self._descriptor)
        with contextlib.suppress(OSError):
            self.path.unlink()

    def close(self) -> None:
        """Close and remove the file. That of a parent is left alone."""
        if self.size() is not None:
            self.abandon()

    def succeed(self, old: Lease) -> int | None:
        """Take the descriptor of `old`, so that a thread about to write to it writes here.

        Gives another descriptor of the old file, which keeps it locked until it is closed; `None`
        if the old file is not open here. Raises `OSError`, after removing this lease.
        """
        if old.size() is None:
            return None
        try:
            kept = os.dup(old._descriptor)
        except OSError:
            self.abandon()
            raise
        mine, self._descriptor = self._descriptor, old._descriptor
        os.dup2(mine, self._descriptor, inheritable=False)
        os.close(mine)
        return kept

    def end(self, kept: int | None) -> None:
        """Remove the file, and close what `succeed` kept of it. That of a parent is left alone."""
        if self._process == os.getpid():
            with contextlib.suppress(OSError):
                self.path.unlink()
        if kept is not None:
            os.close(kept)


def lines(taken: Mapping[int, str], let_go: Mapping[int, str] | None = None) -> str:
    """The text of a lease: a line for each hold taken and each one let go."""
    text = "".join(f"+{number} {key}\n" for number, key in taken.items())
    return text + "".join(f"-{number}\n" for number in let_go or ())


def held_by(path: Path) -> set[str]:
    """The keys held by the owner of the lease at `path`. If that is gone, so is the file then.

    Raises `OSError` if that cannot be found out.
    """
    held: dict[str, str] = {}
    try:
        lock = try_lock(path, create=False)
        if lock is not None:
            lock.release(remove=True)
            return set()
        text = path.read_text(errors="replace")
    except FileNotFoundError:
        return set()  # its process has begun another one
    for line in text.splitlines():
        number, _, key = line[1:].partition(" ")
        if line.startswith("+") and is_digest(key):
            held[number] = key
        elif line.startswith("-"):
            held.pop(number, None)
    return set(held.values())


def leases_in(directory: Path) -> set[Path]:
    """The lease files of all processes. Raises `OSError`."""
    try:
        return set(directory.iterdir())
    except FileNotFoundError:
        return set()


def _locked_file(directory: Path) -> tuple[Path, int]:
    for _ in range(_ATTEMPTS):
        path = directory / f"{os.getpid()}-{os.urandom(8).hex()}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass  # a sweep has taken the unlocked file for abandoned and is removing it
        except OSError:
            os.close(descriptor)
            raise
        else:
            if path.exists():
                return path, descriptor
        os.close(descriptor)
    raise OSError(errno.ESTALE, "lease file keeps vanishing", str(directory))
