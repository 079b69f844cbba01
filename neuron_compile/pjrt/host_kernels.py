"""Kernels that host programs call by name, beside XLA's own.

A process that compiles or loads such a program needs the name only; one that runs it, the function
as well. So the names are registered here, and functions come from the runtime.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from neuron_compile.cache.forks import Guard
from neuron_compile.pjrt.foreign_function import BufferView, ForeignFunction, register
from neuron_compile.pjrt.host_convolution import CONVOLUTION

# An ATen operator, as a program's mark describes its call.
OPERATOR: Final = "neuron_compile.operator"
HOST_KERNELS: Final = frozenset({CONVOLUTION, OPERATOR})

_lock = Guard()
_registered: set[str] = set()
_functions: dict[str, ForeignFunction] = {}


def implement(name: str, function: ForeignFunction) -> None:
    """Let `function` be what programs of this process run under `name`."""
    _functions[name] = function


def ensure_host_kernels(custom_calls: Iterable[str]) -> None:
    """Register the names of those `custom_calls` that are ours. Idempotent."""
    for name in HOST_KERNELS.intersection(custom_calls) - _registered:
        with _lock:
            if name not in _registered:
                register(name, _calling(name))
                _registered.add(name)


def _calling(name: str) -> ForeignFunction:
    def call(
        arguments: Sequence[BufferView], results: Sequence[BufferView], description: str
    ) -> None:
        _functions[name](arguments, results, description)

    return call
