"""A socket that carries frames. Nothing here waits without a limit, except a worker for work."""

from __future__ import annotations

import select
import socket
import time
from typing import Final

from neuron_compile.workers.frames import Frame, FrameReader, encode_frame

_CHUNK: Final = 1 << 20


class ClosedError(EOFError):
    """The other end is gone."""


class Channel:
    """One end of a stream socket. Used by one thread at a time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = FrameReader()
        connection.setblocking(False)

    def fileno(self) -> int:
        """The descriptor, for polling."""
        return self._connection.fileno()

    def close(self) -> None:
        """Close this end; the other one then reads an end of file."""
        self._connection.close()

    def send(self, frame: Frame, *, seconds: float) -> None:
        """Write a message. Raises `ClosedError`, `TimeoutError`."""
        deadline = time.monotonic() + seconds
        for part in encode_frame(frame):
            rest = memoryview(part)
            while rest:
                try:
                    # A program that restored SIGPIPE's default must not die of a dead worker.
                    sent = self._connection.send(rest[:_CHUNK], socket.MSG_NOSIGNAL)
                    rest = rest[sent:]
                except BlockingIOError:
                    self._wait_writable(deadline)
                except OSError as error:
                    raise ClosedError(str(error)) from error

    def receive(self, *, seconds: float | None) -> Frame | None:
        """The next message, or None if there is none within `seconds` (None: as long as it takes).

        Raises `ClosedError`, `FrameError`.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while (frame := self._reader.next_frame()) is None:
            left = None if deadline is None else deadline - time.monotonic()
            if not self.has_data(left):
                return None
            self.take_in()
        return frame

    def take_in(self) -> None:
        """Read what has arrived. Raises `ClosedError`."""
        try:
            data = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            raise ClosedError(str(error)) from error
        if not data:
            raise ClosedError("end of file")
        self._reader.feed(data)

    def next_frame(self) -> Frame | None:
        """A complete message that has been read already, if there is one. Raises `FrameError`."""
        return self._reader.next_frame()

    def has_data(self, seconds: float | None = 0.0) -> bool:
        """Whether something (an end of file, too) can be read within `seconds`."""
        milliseconds = None if seconds is None else max(0.0, seconds * 1000)
        poll = select.poll()
        poll.register(self._connection, select.POLLIN)
        return bool(poll.poll(milliseconds))

    def _wait_writable(self, deadline: float) -> None:
        poll = select.poll()
        poll.register(self._connection, select.POLLOUT)
        if not poll.poll(max(0.0, (deadline - time.monotonic()) * 1000)):
            raise TimeoutError("the other end does not read")
