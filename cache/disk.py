"""Whole files in and out: a reader sees all of a file or none, whatever kills the writer."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import uuid
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from neuron_compile.cache.errors import CorruptEntry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_T = TypeVar("_T")
_PASSING: Final = frozenset({errno.ENOENT, errno.ESTALE})


class FileBytes(NamedTuple):
    """A file's bytes, which file they came from, and when it was last used (seconds since the epoch)."""

    data: bytes
    inode: int
    used: float


def read_whole(path: Path, largest: int) -> FileBytes:
    """The file at `path`.

    Raises `OSError` if it cannot be read, `CorruptEntry` if it is no regular file or larger than
    `largest` bytes. A stale network handle is tried again once.
    """
    return _retried(lambda: _read_whole(path, largest), frozenset({errno.ESTALE}))


def _read_whole(path: Path, largest: int) -> FileBytes:
    # O_NONBLOCK: a planted FIFO must not hang the reader.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise CorruptEntry("not a regular file")
        if status.st_size > largest:
            raise CorruptEntry(f"{status.st_size} bytes where at most {largest} were expected")
        chunks = []
        left = status.st_size + 1
        while left > 0 and (chunk := os.read(descriptor, left)):
            chunks.append(chunk)
            left -= len(chunk)
    finally:
        os.close(descriptor)
    data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    return FileBytes(data, status.st_ino, status.st_mtime)


def write_whole(temporary: Path, target: Path, data: bytes) -> None:
    """Publish `data` as `target`, whole or not at all. Both paths lie on one file system.

    The file is written and synced in the directory `temporary`, then renamed. Its mode is what the umask
    says. Raises `OSError`; then nothing is left behind. Missing directories are made.
    """
    # A sweep that comes between the creation and the lock may take the file away: once more, then.
    _retried(lambda: _write_whole(temporary, target, data), _PASSING)


def _write_whole(temporary: Path, target: Path, data: bytes) -> None:
    path = temporary / f"{os.getpid()}-{uuid.uuid4().hex}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = _in_directory(temporary, lambda: os.open(path, flags, 0o666))
    try:
        # Held while the writer lives: tells a sweep which files are abandoned.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
        _in_directory(target.parent, lambda: path.replace(target))
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(descriptor)


def _in_directory(directory: Path, action: Callable[[], _T]) -> _T:
    try:
        return action()
    except FileNotFoundError:
        directory.mkdir(parents=True, exist_ok=True)
        return action()


def _retried(action: Callable[[], _T], passing: frozenset[int]) -> _T:
    try:
        return action()
    except OSError as error:
        if error.errno not in passing:
            raise
    return action()
