"""ATen called from inside a running program: on which threads, and free of the caller's modes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch
from torch._C import DispatchKey, DispatchKeySet, _ForceDispatchKeyGuard

from neuron_compile.cache.forks import Guard

_turn = Guard()
_wanted = torch.get_num_threads()

_INCLUDED: Final = DispatchKeySet(DispatchKey.BackendSelect)


def _excluded() -> DispatchKeySet:
    names = (
        *("AutogradCPU", "AutogradOther", "ADInplaceOrView", "AutocastCPU", "Functionalize"),
        *("Python", "PythonTLSSnapshot", "PythonDispatcher"),
        *("FuncTorchDynamicLayerFrontMode", "FuncTorchDynamicLayerBackMode", "FuncTorchBatched"),
    )
    keys = DispatchKeySet(DispatchKey.BackendSelect).remove(DispatchKey.BackendSelect)
    for name in names:
        keys = keys.add(getattr(DispatchKey, name))
    return keys


_EXCLUDED: Final = _excluded()


def note_callers_threads() -> None:
    """Called on the thread that runs a program: XLA's own threads know no `set_num_threads`."""
    global _wanted
    _wanted = torch.get_num_threads()


def _after_fork_in_child() -> None:
    global _is_forked
    _is_forked = True


# OpenMP's other threads do not survive a fork, and it waits for them for ever.
_is_forked = False
os.register_at_fork(after_in_child=_after_fork_in_child)


@contextmanager
def with_callers_threads() -> Iterator[None]:
    """Run ATen plainly: no gradients, no autocast, no modes of the caller whose thread this may
    be; one such call at a time, with as many threads as the caller of the program has, or one in a
    forked process."""
    before, wanted = torch.get_num_threads(), 1 if _is_forked else _wanted
    with _turn, _ForceDispatchKeyGuard(_INCLUDED, _EXCLUDED):
        if before != wanted:
            torch.set_num_threads(wanted)
        try:
            yield
        finally:
            if before != wanted:
                torch.set_num_threads(before)
