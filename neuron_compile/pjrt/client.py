"""The process's XLA:CPU client.

A client of our own, not JAX's: JAX's is configured by global switches (64-bit types among them)
that belong to the user. It runs synchronously, since programs read tensors in place and a call must
not return while XLA still reads memory that PyTorch may write.

Must not know: programs, tensors, NEFFs.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any

from neuron_compile.lowering.native_logs import quiet_native_logs

if TYPE_CHECKING:
    from jaxlib import xla_client

_lock = threading.Lock()
_client: xla_client.Client | None = None
_generation = 0


def client() -> xla_client.Client:
    """The client of this process, made on first use; a forked child makes its own."""
    global _client
    with _lock:
        if _client is None:
            quiet_native_logs()
            from jaxlib import xla_client

            _client = xla_client.make_cpu_client(asynchronous=False)
        return _client


def generation() -> int:
    """Counts the forks behind this process: what was loaded under another value is unusable.

    XLA's threads do not survive `fork`, so a child must load its executables again.
    """
    return _generation


def was_used_before_fork() -> bool:
    """Whether this process is the child of a fork that XLA was in use at: it can load and run what
    others compiled, but XLA aborts when it is to compile."""
    return any(used is not None for used in _leaked)


def devices() -> Any:
    """The device list that XLA's loading functions take: the one host device."""
    from jaxlib import _jax

    return _jax.DeviceList((client().local_devices()[0],))


def _after_fork_in_child() -> None:
    global _client, _lock, _generation
    # The parent's client is leaked on purpose: destroying it would join threads that do not exist
    # here.
    _leaked.append(_client)
    _client = None
    _lock = threading.Lock()
    _generation += 1


_leaked: list[xla_client.Client | None] = []
os.register_at_fork(after_in_child=_after_fork_in_child)
