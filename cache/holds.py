"""What running processes hold, so that eviction leaves it alone.

Each process appends to its lease a line for each action it takes hold of (`+1 <key>`) and each it
lets go (`-1`).
"""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Final

from neuron_compile.cache.forks import Guard
from neuron_compile.cache.leases import Lease, held_by, leases_in, lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from neuron_compile.cache.blobs import Blobs

_LARGEST_LEASE: Final = 64 << 10


class HeldBlobs(Mapping[str, bytes]):
    """The verified blobs of an action. While this object lives, the action is not evicted."""

    __slots__ = ("_blobs", "_hold", "_let_go")

    def __init__(self, blobs: Blobs, hold: int, let_go: Callable[[int], None]) -> None:
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
    use. What a forked child has from its parent is its parent's hold until it takes its own first.
    """

    def __init__(self, directory: Path, *, is_recording: bool) -> None:
        self.directory = directory
        self._is_recording = is_recording
        self._numbers = count(1)
        self._current: dict[int, str] = {}
        self._let_go: deque[int] = deque()
        self._guard = Guard()
        self._lease: Lease | None = None

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # Every `HeldBlobs` keeps this object alive: nothing is held any more.
        if self._lease is not None and not is_finalizing():
            self._lease.close()

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
        if self._lease is not None and self._lease.size() is not None:
            self._write("", may_renew=False)

    def blobs(self, blobs: Blobs, number: int) -> HeldBlobs:
        """`blobs`, holding number `number` for as long as the mapping lives."""
        return HeldBlobs(blobs, number, self.let_go)

    def everybody(self) -> set[str]:
        """The keys held by any running process. Leases of processes that are gone are removed.

        Raises `OSError` if that cannot be found out.
        """
        self._write("")
        held = set(self._current.values())
        # A forked child's lease is its parent's until it has one, and the parent may hold more now.
        own = self._lease
        read = set() if own is None or own.size() is None else {own.path}
        # Until there is nothing new: a lease is begun anew before the old one is removed, so one
        # that vanishes while this goes on has a successor.
        while unread := leases_in(self.directory) - read:
            for path in unread:
                held |= held_by(path)
            read |= unread
        return held

    def _write(self, line: str, *, may_renew: bool = True) -> None:
        gone = list(self._drained())
        for number in gone:
            self._current.pop(number, None)
        text = "".join(f"-{number}\n" for number in gone) + line
        if not self._is_recording or not text:
            return
        with contextlib.suppress(OSError):
            if may_renew and not self._has_room():
                with self._guard:
                    if not self._has_room():
                        self._renew()
                        return
            if self._lease is not None and self._lease.size() is not None:
                self._lease.append(text)

    def _drained(self) -> Iterator[int]:
        # Other threads, and garbage collections in this one, take from it at the same time.
        with contextlib.suppress(IndexError):
            while True:
                yield self._let_go.popleft()

    def _has_room(self) -> bool:
        size = None if self._lease is None else self._lease.size()
        return size is not None and size <= _LARGEST_LEASE

    def _renew(self) -> None:
        """Begin a lease with the present holds.

        A forked child begins its own, and leaves its parent's open: it uses what its parent held.
        """
        old = self._lease
        told = dict(self._current)
        lease = Lease.begin(self.directory, lines(told))
        kept = None if old is None else lease.succeed(old)
        self._lease = lease
        # What other threads took and let go in between went to the old lease, and what they let go
        # while that is being written may have been said too early.
        now = dict(self._current)
        lease.append(lines(_without(now, told), _without(told, now)))
        lease.append(lines({}, _without(now, dict(self._current))))
        if old is not None:
            old.end(kept)


def _without(some: Mapping[int, str], others: Mapping[int, str]) -> dict[int, str]:
    return {number: key for number, key in some.items() if number not in others}
