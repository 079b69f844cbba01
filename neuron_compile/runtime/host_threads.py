"""ATen called from inside a running program: on which threads, and free of the caller's modes."""

from __future__ import annotations

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


@contextmanager
def with_callers_threads() -> Iterator[None]:
    """Run ATen plainly: no gradients, no autocast, no modes of the caller whose thread this may
    be; one such call at a time, with as many threads as the caller of the program has."""
    if torch.get_num_threads() != _wanted:
        torch.set_num_threads(_wanted)
    with _turn, _ForceDispatchKeyGuard(_INCLUDED, _EXCLUDED):
        yield
