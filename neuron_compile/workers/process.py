"""The parent's side of one worker process."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from typing import Final

from neuron_compile.workers.channel import Channel, ClosedError
from neuron_compile.workers.frames import Frame, FrameError
from neuron_compile.workers.launch import (
    decisive_environment,
    start_process,
    worker_command,
    worker_environment,
)
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.memory import resident_bytes
from neuron_compile.workers.request import Request

log = logging.getLogger("neuron_compile.workers")

# Between two looks at a worker's memory.
_TICK_SECONDS: Final = 0.05
# A worker that was started and has not begun by then never will.
_BEGIN_SECONDS: Final = 120.0
_END_SECONDS: Final = 10.0
_KEPT_OUTPUT: Final = 64 * 1024
_READS: Final = 16


class WorkerLostError(Exception):
    """A worker ended, or was ended, without an answer.

    `reason` is a sentence. `had_begun` tells whether it was at the action. `signal_number` is the
    signal that ended it; 0 if none did, or if it was ours. `output` is the last it printed.
    """

    def __init__(
        self, reason: str, *, had_begun: bool, signal_number: int = 0, output: str = ""
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.had_begun = had_begun
        self.signal_number = signal_number
        self.output = output

    @property
    def came_from_outside(self) -> bool:
        """Whether somebody else ended it: another try may well succeed."""
        outside = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
        return not self.had_begun or self.signal_number in outside


@dataclass(slots=True)
class _Progress:
    """How far an exchange has come."""

    start: float
    had_begun: bool = False
    next_report: float = 10.0


class WorkerProcess:
    """A worker that runs, used by one thread at a time. `OSError` if it cannot be started."""

    def __init__(self, module: str) -> None:
        self.environment = decisive_environment()
        self._given = worker_environment(module)
        self._process, connection = start_process(worker_command(module), self._given)
        self._channel = Channel(connection)
        assert self._process.stdout is not None
        self._output = self._process.stdout
        os.set_blocking(self._output.fileno(), False)
        self._said = bytearray()
        self.action_count = 0

    @property
    def pid(self) -> int:
        """Its process number."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it runs still."""
        return self._process.poll() is None

    @property
    def resident_bytes(self) -> int:
        """The memory it occupies, its children's included."""
        return resident_bytes(self.pid)

    def carry_out(self, request: Request, limits: ActionLimits) -> Frame:
        """The answer: `done` with blobs, `failed` with an encoded error, or `stale`, from a worker
        that was started before or after our code was changed.

        Raises `WorkerLostError`. Whatever is raised leaves the worker unusable: call `end`.
        """
        self.action_count += 1
        progress = _Progress(time.monotonic())
        try:
            values = {**request.to_json(), "environment": self._changes()}
            frame = Frame("request", values, request.inputs)
            self._channel.send(frame, seconds=_BEGIN_SECONDS)
            return self._await_answer(progress, limits)
        except (ClosedError, TimeoutError):
            raise self._lost(progress) from None
        except FrameError as error:
            self.end()
            raise WorkerLostError(
                f"the worker wrote {error}",
                had_begun=progress.had_begun,
                output=self.said,
            ) from error

    def _changes(self) -> dict[str, str | None]:
        """Where the environment is another one now than the worker has: the programs that it starts
        see what they would see if this process started them."""
        current = dict(os.environ)
        names = [n for n in {**self._given, **current} if self._given.get(n) != current.get(n)]
        changes = {name: current.get(name) for name in names}
        self._given = current
        return changes

    @property
    def said(self) -> str:
        """The last that the worker printed, to standard output or error."""
        self._drain()
        return self._said.decode(errors="replace")

    def _drain(self) -> None:
        """Take in what was printed, but no more at once than a pipe holds: it may be endless."""
        with contextlib.suppress(BlockingIOError, ValueError):
            for _ in range(_READS):
                data = os.read(self._output.fileno(), _KEPT_OUTPUT)
                if not data:
                    break
                self._said += data
                del self._said[:-_KEPT_OUTPUT]

    def take_said(self) -> str:
        """`said`, forgotten afterwards."""
        said = self.said
        self._said.clear()
        return said

    def kill(self) -> None:
        """Kill it, if it runs, and leave no zombie. Another thread may be using it."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)

    def end(self) -> None:
        """Kill it, and close what belongs to it."""
        self._channel.close()
        self.kill()
        # After the last words have been read.
        self._drain()
        self._output.close()

    def forget(self) -> None:
        """In a forked child: close what belongs to the parent, and touch nothing else of it."""
        self._channel.close()
        self._output.close()
        # It is not our child; asking for it would only give a warning.
        self._process.returncode = 0

    def _await_answer(self, progress: _Progress, limits: ActionLimits) -> Frame:
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        poll.register(self._output, select.POLLIN)
        is_open = True
        while True:
            for descriptor, event in poll.poll(_TICK_SECONDS * 1000):
                if descriptor == self._channel.fileno():
                    self._channel.take_in()
                else:
                    self._drain()
                    if is_open and event & select.POLLHUP:
                        poll.unregister(self._output)
                        is_open = False
            while (frame := self._channel.next_frame()) is not None:
                if frame.kind in ("done", "failed", "stale"):
                    return frame
                self._note(frame, progress)
            self._enforce(progress, limits)

    def _note(self, frame: Frame, progress: _Progress) -> None:
        if frame.kind == "began":
            progress.start, progress.had_begun = time.monotonic(), True
        elif frame.kind == "progress":
            seconds = frame.values["seconds"]
            if seconds >= progress.next_report:
                progress.next_report = seconds * 1.5
                log.info("compiling for %.0f s: %s", seconds, frame.values["line"])
        else:
            raise FrameError(f"a message of kind {frame.kind!r}")

    def _enforce(self, progress: _Progress, limits: ActionLimits) -> None:
        elapsed = time.monotonic() - progress.start
        if not progress.had_begun:
            if elapsed > _BEGIN_SECONDS:
                raise self._ended(f"the worker did not begin in {_BEGIN_SECONDS:.0f} s", progress)
            return
        if limits.seconds is not None and elapsed > limits.seconds:
            raise self._ended(f"it took longer than the limit of {limits.seconds:g} s", progress)
        if limits.memory_bytes is not None:
            used = self.resident_bytes
            if used > limits.memory_bytes:
                raise self._ended(
                    f"it took {used / 1e9:.2f} GB of memory, more than the limit of "
                    f"{limits.memory_bytes / 1e9:.2f} GB",
                    progress,
                )

    def _ended(self, reason: str, progress: _Progress) -> WorkerLostError:
        self.end()
        return WorkerLostError(
            f"{reason}; the worker was killed", had_begun=progress.had_begun, output=self.said
        )

    def _lost(self, progress: _Progress) -> WorkerLostError:
        """The error for a worker whose end of the channel is closed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        code = self._process.poll()
        self.end()
        if code is None:
            reason, number = "the worker stopped listening", 0
        elif code < 0:
            number = -code
            reason = f"the worker was ended by {_signal_name(number)}"
        else:
            reason, number = f"the worker ended with exit code {code}", 0
        return WorkerLostError(
            reason, had_begun=progress.had_begun, signal_number=number, output=self.said
        )


def _signal_name(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
