"""The process's one Neuron runtime: initialized once, closed last, unusable after a fork."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import TYPE_CHECKING, Any, Final, Protocol

from neuron_compile.cache.forks import Guard
from neuron_compile.errors import ExecutionError
from neuron_compile.runtime.nrt.library import NO_FRAMEWORK, find_library, open_library
from neuron_compile.runtime.nrt.status import check

if TYPE_CHECKING:
    from pathlib import Path


class Closable(Protocol):
    """What holds resources of the runtime."""

    def close(self) -> None:
        """Give them back; more than once does no harm."""


class NrtRuntime:
    """An initialized libnrt. Use `runtime()`, which keeps it single. Thread-safe."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self._process = os.getpid()
        self._users: weakref.WeakSet[Closable] = weakref.WeakSet()
        self._is_open = True
        check("nrt_init", library.nrt_init(NO_FRAMEWORK, b"", b""))
        atexit.register(self.close)

    @property
    def is_usable(self) -> bool:
        """Whether calls may be made: not closed, and in the process that initialized it."""
        return self._is_open and os.getpid() == self._process

    def require_usable(self) -> None:
        """Raise `ExecutionError` where the runtime must not be called."""
        if os.getpid() != self._process:
            raise ExecutionError(
                "a compiled graph cannot run on a Neuron device in a forked process",
                why="the Neuron runtime does not survive fork.",
                hint='start workers with multiprocessing.set_start_method("spawn"), or keep '
                "compiled calls out of DataLoader workers.",
            )
        if not self._is_open:
            raise ExecutionError(
                "a compiled graph was called after the Neuron runtime was closed",
                why="the process is ending.",
            )

    def keep(self, user: Closable) -> None:
        """Close `user` before the runtime, if it still lives then."""
        self._users.add(user)

    def close(self) -> None:
        """Close all users, then the runtime. Nothing in a forked child, whose it is not."""
        if not self.is_usable:
            return
        for user in list(self._users):
            user.close()
        self._is_open = False
        self.library.nrt_close()


_lock: Final = Guard()
_runtimes: Final[dict[str, NrtRuntime]] = {}


def runtime(path: Path | None = None) -> NrtRuntime:
    """The process's runtime, initialized at the first call. `path` names another libnrt.

    Raises `ExecutionError` where libnrt is not installed or was initialized before a fork,
    `NrtError` where it cannot be initialized, for example without a device.
    """
    found = path or find_library()
    if found is None:
        raise ExecutionError(
            "a NEFF for a Neuron device cannot run on this machine",
            why="libnrt, the Neuron runtime, is not installed here.",
            hint="run it on a machine with a Neuron device and aws-neuronx-runtime-lib; "
            'options={"execute": "host"} compiles for the device and computes on this CPU, '
            'options={"target": "host"} does without a device at all.',
        )
    with _lock:
        known = _runtimes.get(str(found))
        if known is None:
            known = _runtimes[str(found)] = NrtRuntime(open_library(found))
    known.require_usable()
    return known
