"""A worker with actions that fail, started by tests in the place of the real one.

Each fault is an action of its name. `FAULT=abort:lower` in the worker's environment puts the fault
in the place of a real action, for tests that go through `torch.compile`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

from neuron_compile.cache.blobs import Blobs
from neuron_compile.workers import worker
from neuron_compile.workers.request import TASKS, Progress, Request, Task


def echo(request: Request, _: Progress) -> Blobs:
    return request.inputs


def pid(_request: Request, _: Progress) -> Blobs:
    return {"pid": str(os.getpid()).encode()}


def modules(_request: Request, _: Progress) -> Blobs:
    return {"modules": "\n".join(sys.modules).encode()}


def environment(_request: Request, _: Progress) -> Blobs:
    names = ("XLA_FLAGS", "PYTHONPATH", "NEURON_TEST")
    facts = {name: os.environ.get(name, "") for name in names}
    return {name: value.encode() for name, value in facts.items()}


def options(_request: Request, _: Progress) -> Blobs:
    return {"options": repr(sorted(sys._xoptions)).encode()}


def print_(request: Request, _: Progress) -> Blobs:
    """Prints as native code does, past Python's own streams."""
    for descriptor in (1, 2):
        os.write(descriptor, request.inputs["text"])
    return {"done": b""}


def report(_request: Request, progress: Progress) -> Blobs:
    for seconds in range(1, 25):
        progress(float(seconds), f"line {seconds}")
    return {"done": b""}


def raise_(_request: Request, _: Progress) -> Blobs:
    raise KeyError("none of ours")


def abort(_request: Request, _: Progress) -> Blobs:
    os.write(2, b"LLVM ERROR: this pass aborts\n")
    os.abort()


def abort_cosine(request: Request, progress: Progress) -> Blobs:
    if b"torch.aten.cos" in request.inputs["module"]:
        os.abort()
    return TASKS["lower"](request, progress)


def segfault(_request: Request, _: Progress) -> Blobs:
    ctypes.string_at(0)
    return {}


def leave(_request: Request, _: Progress) -> Blobs:
    os._exit(70)


def allocate(_request: Request, _: Progress) -> Blobs:
    blocks = []
    while True:
        blocks.append(b"x" * (32 << 20))


def babble(_request: Request, _: Progress) -> Blobs:
    while True:
        os.write(1, b"and on it goes\n" * 1000)


def spin(_request: Request, _: Progress) -> Blobs:
    # In native code that never gives way to Python, as a pass would.
    ctypes.PyDLL(None).pause()
    return {}


def sleep(request: Request, _: Progress) -> Blobs:
    time.sleep(float(request.inputs["seconds"]))
    return {"pid": str(os.getpid()).encode()}


def garble(_request: Request, _: Progress) -> Blobs:
    """Writes to every descriptor there is, the channel's too."""
    for descriptor in range(1, 64):
        try:
            os.write(descriptor, b"this is no message\n")
        except OSError:
            continue
    time.sleep(60)
    return {}


def die_once(request: Request, _: Progress) -> Blobs:
    """Killed as by `kill -9` in the middle of the action, unless that has happened before."""
    mark = Path(request.inputs["mark"].decode())
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"pid": str(os.getpid()).encode()}


def meet(request: Request, progress: Progress) -> Blobs:
    """The real action, which begins when a second worker is at one too."""
    folder = Path(os.environ["MEETING"])
    (folder / str(os.getpid())).touch()
    deadline = time.monotonic() + 60
    while len(list(folder.iterdir())) < 2:
        if time.monotonic() > deadline:
            raise TimeoutError("no other worker is at an action")
        time.sleep(0.01)
    return TASKS[request.action](request, progress)


def die(_request: Request, _: Progress) -> Blobs:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


FAULTS: dict[str, Task] = {
    function.__name__.strip("_"): function
    for function in (
        *(echo, pid, modules, environment, options, print_, report, raise_),
        *(
            abort,
            abort_cosine,
            segfault,
            leave,
            allocate,
            babble,
            spin,
            sleep,
            garble,
            die_once,
            die,
            meet,
        ),
    )
}


def tasks() -> dict[str, Task]:
    """The real actions, less those that `FAULT` replaces, and the faults."""
    chosen = {**TASKS, **FAULTS}
    fault, _, action = os.environ.get("FAULT", "").partition(":")
    if fault:
        chosen[action] = FAULTS[fault]
    return chosen


if __name__ == "__main__":
    worker.main(tasks(), () if os.environ.get("FAULT") is None else worker.PRELOADS)
