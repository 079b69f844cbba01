"""The pools of this process: one for each size asked for, none shared through `fork`, none left
behind at exit."""

from __future__ import annotations

import atexit
import os
import sys
import threading

from neuron_compile.workers.pool import WorkerPool

_lock = threading.Lock()
_pools: dict[int, WorkerPool] = {}


def pool_of(size: int) -> WorkerPool:
    """The process's pool of `size` workers; a forked child gets its own."""
    with _lock:
        if size not in _pools:
            if not _pools:
                _close_at_exit()
            _pools[size] = WorkerPool(size)
        return _pools[size]


def close_pools() -> None:
    """End every worker of this process."""
    with _lock:
        pools = list(_pools.values())
        _pools.clear()
    for pool in pools:
        pool.close()


def _close_at_exit() -> None:
    atexit.register(close_pools)
    # Its children end without running what is registered with atexit.
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, close_pools, exitpriority=10)


def _after_fork_in_child() -> None:
    global _lock
    _lock = threading.Lock()
    pools = list(_pools.values())
    _pools.clear()
    for pool in pools:
        pool.forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
