"""What running processes hold, so that eviction leaves it alone.

Each process keeps one lease file, locked for as long as it lives, to which it appends a line for
each action it takes hold of (`+1 <key>`) and each it lets go (`-1`). A lease whose lock is free
belongs to a process that is gone. Nothing needs to be cleaned up by a process that is killed.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.digests import is_digest
from neuron_compile.cache.disk import make_directory
from neuron_compile.cache.forks import Guard
from neuron_compile.cache.locks import try_lock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LARGEST_LEASE: Final = 64 << 10
_ATTEMPTS: Final = 50


class HeldBlobs(Mapping[str, bytes]):
    """The verified blobs of an action. While this object lives, the action is not evicted."""

    __slots__ = ("_blobs", "_hold", "_let_go")

    def __init__(
        self, blobs: Mapping[str, bytes], hold: int, let_go: Callable[[int], None]
    ) -> None:
        self._blobs = dict(blobs)
        self._hold = hold
        self._let_go = let_go

    def __getitem__(self, name: str) -> bytes:
        return self._blobs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blobs)

    def __len__(self) -> int:
        return len(self._blobs)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(data)} bytes" for name, data in self._blobs.items())
        return f"HeldBlobs({sizes})"

    def __del__(self) -> None:
        self._let_go(self._hold)


class Holds:
    """The holds of this process on actions of one store, and a view of everybody's.

    Failing to record a hold is no failure: the entry may then be evicted while its bytes are in
    use.
    """

    def __init__(self, directory: Path, *, is_recording: bool) -> None:
        self.directory = directory
        self._is_recording = is_recording
        self._numbers = count(1)
        self._current: dict[int, str] = {}
        self._let_go: deque[int] = deque()
        self._guard = Guard()
        self._lease: tuple[int, int, Path] | None = None  # process, descriptor, path

    def take(self, key: str) -> int:
        """Hold the action `key`, from now on and visible to others, until the number returned is
        let go.
        """
        number = next(self._numbers)
        self._current[number] = key
        self._write(f"+{number} {key}\n")
        return number

    def let_go(self, number: int) -> None:
        """Give a hold up. Called in garbage collections too: takes no lock, never fails."""
        self._let_go.append(number)
        # A forked child must not let go what its parent holds, nor begin a lease just to say so.
        if self._lease is not None and self._lease[0] == os.getpid():
            self._write("", may_renew=False)

    def blobs(self, blobs: Mapping[str, bytes], number: int) -> HeldBlobs:
        """`blobs`, holding number `number` for as long as the mapping lives."""
        return HeldBlobs(blobs, number, self.let_go)

    def everybody(self) -> set[str]:
        """The keys held by any running process. Leases of processes that are gone are removed.

        Raises `OSError` if that cannot be found out.
        """
        self._write("")
        held = set(self._current.values())
        own = self._lease and self._lease[2]
        read: set[Path] = set() if own is None else {own}
        # Until there is nothing new: a lease is begun anew before the old one is removed, so one
        # that vanishes while this goes on has a successor.
        while unread := _listed(self.directory) - read:
            for path in unread:
                held |= _held_by(path)
            read |= unread
        return held

    def _write(self, line: str, *, may_renew: bool = True) -> None:
        gone = [self._let_go.popleft() for _ in range(len(self._let_go))]
        for number in gone:
            self._current.pop(number, None)
        text = "".join(f"-{number}\n" for number in gone) + line
        if not self._is_recording or not text:
            return
        with contextlib.suppress(OSError):
            if may_renew and self._needs_lease():
                with self._guard:
                    if self._needs_lease():
                        self._renew()
                        return
            if self._lease is not None:
                os.write(self._lease[1], text.encode())

    def _needs_lease(self) -> bool:
        lease = self._lease
        if lease is None or lease[0] != os.getpid():
            return True
        return os.fstat(lease[1]).st_size > _LARGEST_LEASE

    def _renew(self) -> None:
        """Begin a lease with the present holds.

        A forked child begins its own, and leaves its parent's open: it uses what its parent held.
        """
        old = self._lease
        make_directory(self.directory)
        path, descriptor = self._locked_file()
        written = dict(self._current)
        os.write(descriptor, _lines(written).encode())
        self._lease = (os.getpid(), descriptor, path)
        # What other threads took and let go in between went to the old lease.
        now = dict(self._current)
        missed = _lines({number: key for number, key in now.items() if number not in written})
        missed += "".join(f"-{number}\n" for number in written if number not in now)
        os.write(descriptor, missed.encode())
        if old is not None and old[0] == os.getpid():
            with contextlib.suppress(OSError):
                old[2].unlink()
            os.close(old[1])

    def _locked_file(self) -> tuple[Path, int]:
        for _ in range(_ATTEMPTS):
            path = self.directory / f"{os.getpid()}-{os.urandom(8).hex()}"
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
        raise OSError(errno.ESTALE, "lease file keeps vanishing", str(self.directory))


def _lines(holds: Mapping[int, str]) -> str:
    return "".join(f"+{number} {key}\n" for number, key in holds.items())


def _held_by(path: Path) -> set[str]:
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


def _listed(directory: Path) -> set[Path]:
    try:
        return set(directory.iterdir())
    except FileNotFoundError:
        return set()
