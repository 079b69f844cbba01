"""The program of a worker process: read a request, carry it out, answer.

Started as `python -m neuron_compile.workers.worker PARENT`, with a socket as standard input. What
native code prints goes to standard output and error, which the parent keeps for its reports.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from neuron_compile.workers.channel import Channel, ClosedError
from neuron_compile.workers.error_codec import encode_error
from neuron_compile.workers.frames import Frame
from neuron_compile.workers.request import TASKS, Request, Task, identity

# An answer that the parent does not take in means that it is not waiting for it any more.
_ANSWER_SECONDS: Final = 60.0
_PR_SET_PDEATHSIG: Final = 1

Preload = Callable[[], object]


def serve(channel: Channel, tasks: Mapping[str, Task], preloads: Sequence[Preload] = ()) -> None:
    """Answer requests until the other end is closed. Until the first one there are imports to do:
    whatever it does without is not worth its neighbours' time."""
    for preload in preloads:
        if channel.has_data():
            break
        preload()
    while True:
        frame = channel.receive(seconds=None)
        if frame is not None:
            channel.send(Frame("began"), seconds=_ANSWER_SECONDS)
            channel.send(_answer(channel, frame, tasks), seconds=_ANSWER_SECONDS)


def _answer(channel: Channel, frame: Frame, tasks: Mapping[str, Task]) -> Frame:
    def progress(seconds: float, line: str) -> None:
        values = {"seconds": seconds, "line": line}
        channel.send(Frame("progress", values), seconds=_ANSWER_SECONDS)

    try:
        _adopt(frame.values["environment"])
        request = Request.from_json(frame.values, frame.blobs)
        if request.identity and request.identity != identity(request.action, request.recipe):
            return Frame("stale")
        return Frame("done", blobs=tasks[request.action](request, progress))
    except ClosedError:
        raise
    except Exception as error:
        return Frame("failed", encode_error(error))


def _adopt(changes: Mapping[str, str | None]) -> None:
    """Bring the environment to the parent's."""
    for name, value in changes.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def import_torch_mlir() -> None:
    """Torch-MLIR with its passes."""
    from neuron_compile.lowering.torch_context import torch_context

    torch_context()


def import_xla() -> None:
    """jaxlib's MLIR and XLA's client."""
    from neuron_compile.codegen import host  # noqa: F401 - loaded for later
    from neuron_compile.lowering import to_stablehlo  # noqa: F401
    from neuron_compile.lowering.library.link import mlir_context
    from neuron_compile.pjrt.client import client

    mlir_context()
    client()


def import_jax() -> None:
    """JAX, which graphs without library functions do without: last, since it takes longest."""
    from neuron_compile.lowering.library import trace  # noqa: F401


PRELOADS: Final[tuple[Preload, ...]] = (import_torch_mlir, import_xla, import_jax)


def take_over_input() -> Channel:
    """The socket that was given as standard input, which is empty from now on."""
    connection = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return Channel(connection)


def end_with(parent: int) -> None:
    """Have the kernel end this process when its parent dies, in native code too; choose this one
    rather than the parent when memory runs out; leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
    if os.getppid() != parent:
        os._exit(0)


def main(tasks: Mapping[str, Task] = TASKS, preloads: Sequence[Preload] = PRELOADS) -> None:
    """Run a worker to its end."""
    channel = take_over_input()
    end_with(int(sys.argv[1]))
    faulthandler.enable()
    with contextlib.suppress(ClosedError):
        serve(channel, tasks, preloads)
    # Nothing is worth waiting for: no thread of XLA, no destructor.
    os._exit(0)


if __name__ == "__main__":
    main()
