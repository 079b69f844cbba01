"""Processes that really die, and actions whose right answer every process can work out."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
import traceback
from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache import ActionKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


class Child:
    """A forked process; `said` is what it wrote, line by line, before it ended or was killed."""

    def __init__(self, work: Callable[[Callable[[str], None]], None]) -> None:
        reading, writing = os.pipe()
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
        """Until it has written `line`."""
        assert self._read_line() == line

    def join(self, seconds: float = 60.0) -> list[str]:
        """What it said, once it has ended; a hang fails the test."""
        deadline = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                self.kill()
                os.waitpid(self.pid, 0)
                pytest.fail(f"child {self.pid} hangs")
            time.sleep(0.002)
        self.status = os.waitstatus_to_exitcode(status)
        with os.fdopen(self._reading) as stream:
            return stream.read().splitlines()

    def _read_line(self) -> str:
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self._reading, 1)
            assert byte, "the child has ended"
            line += byte
        return line.decode().strip()


def _say(descriptor: int, line: str) -> None:
    os.write(descriptor, f"{line}\n".encode())


@pytest.fixture
def fork() -> Iterator[Callable[[Callable[[Callable[[str], None]], None]], Child]]:
    """Runs a function in a forked process; it is given a function to report lines with."""
    children: list[Child] = []

    def start(work: Callable[[Callable[[str], None]], None]) -> Child:
        children.append(Child(work))
        return children[-1]

    yield start
    for child in children:
        if child.status is None:
            child.kill()
            child.join()


class Actions:
    """Numbered actions: the key of each, and the blobs that are the only right answer."""

    def __init__(self, size: int = 3000) -> None:
        self.size = size

    def key(self, number: int) -> ActionKey:
        """The key of action `number`."""
        return ActionKey("test", (("number", str(number).encode()), ("program", b"p" * 500)))

    def blobs(self, number: int) -> dict[str, bytes]:
        """Its blobs: one of its own, and one that it shares with every fourth action."""
        return {
            "own": hashlib.shake_128(f"own {number}".encode()).digest(self.size + number % 7),
            "shared": hashlib.shake_128(f"shared {number % 4}".encode()).digest(200),
        }


@pytest.fixture
def actions() -> Actions:
    return Actions()


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A directory that does not exist yet."""
    return tmp_path / "store"
