"""What tests of the cache share: processes that really die, a clock moved by hand, actions."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any, Protocol

import pytest

from neuron_compile.cache import ActionCache, ActionKey

Say = Callable[[str], None]
"""Reports a line from a child to the test."""

Fork = Callable[[Callable[[Say], None]], "Child"]


class MakeCache(Protocol):
    """Makes a cache object on the one store, as another process would have."""

    def __call__(self, on_wait: Callable[[str], None] = ..., **policy: Any) -> ActionCache: ...


class MakeKey(Protocol):
    """A key by number; named parts may be added."""

    def __call__(self, number: int = 0, **parts: str) -> ActionKey: ...


class Clock:
    """Seconds since the epoch, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class Child:
    """A forked process that does `work`."""

    def __init__(self, work: Callable[[Say], None]) -> None:
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            # Threads of other tests do not matter to the child, which never returns to pytest.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            os.close(reading)
            status = 1
            try:
                work(lambda line: _say(writing, line))
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        os.close(writing)
        self._reading = reading
        self.status: int | None = None

    def kill(self) -> None:
        """End it as the kernel's out-of-memory killer would."""
        os.kill(self.pid, signal.SIGKILL)

    def wait_for(self, line: str) -> None:
        """Until it has said `line`."""
        said = b""
        while not said.endswith(b"\n"):
            byte = os.read(self._reading, 1)
            assert byte, "the child has ended"
            said += byte
        assert said.decode().strip() == line

    def join(self, seconds: float = 60.0) -> list[str]:
        """The lines it said before it ended or was killed; a hang fails the test."""
        deadline = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                self.kill()
                os.waitpid(self.pid, 0)
                self.status = -signal.SIGKILL
                pytest.fail(f"child {self.pid} hangs")
            time.sleep(0.002)
        self.status = os.waitstatus_to_exitcode(status)
        with os.fdopen(self._reading) as stream:
            return stream.read().splitlines()


def _say(descriptor: int, line: str) -> None:
    os.write(descriptor, f"{line}\n".encode())


def giving(**blobs: bytes) -> Callable[[], dict[str, bytes]]:
    """A producer of these blobs."""
    return lambda: blobs


class Actions:
    """Numbered actions: the key of each, and the blobs that are the only right answer."""

    def __init__(self, size: int = 3000) -> None:
        self.size = size

    def key(self, number: int) -> ActionKey:
        """The key of action `number`."""
        return ActionKey("test", (("number", str(number).encode()), ("program", b"p" * 500)))

    def producer(self, number: int) -> Callable[[], dict[str, bytes]]:
        """The work of action `number`."""
        return lambda: self.blobs(number)

    def blobs(self, number: int) -> dict[str, bytes]:
        """Its blobs: one of its own, and one that it shares with every fourth action."""
        return {
            "own": hashlib.shake_128(f"own {number}".encode()).digest(self.size + number % 7),
            "shared": hashlib.shake_128(f"shared {number % 4}".encode()).digest(200),
        }
