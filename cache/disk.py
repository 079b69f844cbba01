"""Whole files in and out: a reader sees all of a file or none, whatever kills the writer."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from neuron_compile.cache.errors import CorruptEntryError

if TYPE_CHECKING:
    from pathlib import Path

_T = TypeVar("_T")
Check = Callable[[os.stat_result], None]
STALE: Final = frozenset({errno.ESTALE})
_PASSING: Final = frozenset({errno.ENOENT, errno.ESTALE})


class FileBytes(NamedTuple):
    """A file's bytes, which file they came from, and when it was last used (seconds since the
    epoch).
    """

    data: bytes
    inode: int
    used: float


def read_whole(path: Path, largest: int, check: Check | None = None) -> FileBytes:
    """The file at `path`.

    Raises `OSError` if it cannot be read, `CorruptEntryError` if it is no regular file or larger
    than `largest` bytes, and what `check` raises. A stale network handle is tried again once.
    """
    return retried(lambda: _read_whole(path, largest, check))


def _read_whole(path: Path, largest: int, check: Check | None) -> FileBytes:
    # O_NONBLOCK: a planted FIFO must not hang the reader.
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise CorruptEntryError("not a regular file")
        if check is not None:
            check(status)
        if status.st_size > largest:
            raise CorruptEntryError(f"{status.st_size} bytes where at most {largest} were expected")
        chunks = []
        left = status.st_size + 1
        while left > 0 and (chunk := os.read(descriptor, left)):
            chunks.append(chunk)
            left -= len(chunk)
    finally:
        os.close(descriptor)
    data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    return FileBytes(data, status.st_ino, status.st_mtime)


def write_whole(temporary: Path, target: Path, data: bytes, used: float | None = None) -> None:
    """Publish `data` as `target`, whole or not at all. Both paths lie on one file system.

    The file is written and synced in the directory `temporary`, then renamed. The umask says
    who may read it; none but its owner may write to it. Raises `OSError`; then nothing is left
    behind. Missing directories are made.
    """
    # A sweep that comes between the creation and the lock may take the file away: once more, then.
    retried(lambda: _write_whole(temporary, target, data, used), _PASSING)


def _write_whole(temporary: Path, target: Path, data: bytes, used: float | None) -> None:
    path = temporary / f"{os.getpid()}-{os.urandom(16).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = in_directory(temporary, lambda: os.open(path, flags, 0o644))
    try:
        # Held while the writer lives: tells a sweep which files are abandoned.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
        if used is not None:
            with contextlib.suppress(OSError):
                os.utime(descriptor, (used, used))
        in_directory(target.parent, lambda: path.replace(target))
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink()
        raise
    finally:
        os.close(descriptor)


def put_back(source: Path, target: Path) -> None:
    """Move `source` to `target` unless there is a file at `target` already; `source` is gone either
    way.
    """
    try:
        target.hardlink_to(source)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        if not target.exists():
            source.rename(target)
            return
    source.unlink(missing_ok=True)


def in_directory(directory: Path, action: Callable[[], _T]) -> _T:
    """What `action` gives; if it finds no such file, once more after making `directory`."""
    try:
        return action()
    except FileNotFoundError:
        make_directory(directory)
        return action()


def make_directory(directory: Path) -> None:
    """Make `directory` and those above it that are missing, open to no more users than what is
    there.

    So a store whose directory was made for a team stays a team's, and no umask opens one user's to
    all.
    """
    try:
        status = directory.parent.stat()
        # Anyone may write to a sticky directory such as /tmp, and not to what is in it.
        mode = 0o755 if status.st_mode & stat.S_ISVTX else 0o777
        directory.mkdir(mode=status.st_mode & mode, exist_ok=True)
    except FileNotFoundError:
        if directory.parent == directory:
            raise
        make_directory(directory.parent)
        directory.mkdir(mode=directory.parent.stat().st_mode & 0o777, exist_ok=True)


def retried(action: Callable[[], _T], passing: frozenset[int] = STALE) -> _T:
    """What `action` gives; once more after an error that passes, by default that of a file handle
    that a network file system has lost.
    """
    try:
        return action()
    except OSError as error:
        if error.errno not in passing:
            raise
    return action()
