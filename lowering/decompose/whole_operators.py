"""Operators that PyTorch takes apart before any table is asked, kept whole.

Its own rules for resampling stand where autograd is traced, so that their gradients are scatters of
the parts; the function library has the gradients as operators, and knows the positions while
tracing. The parts of `one_hot` would not refuse what it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch

from neuron_compile.lowering.checked_ops import one_hot

_COMPOSITE: Final = torch._C.DispatchKey.CompositeImplicitAutograd
_KEYS: Final = (torch._C.DispatchKey.Autograd, _COMPOSITE)
_one_hot: Final = torch.ops.aten.one_hot.default


def is_resampling(operator: Any) -> bool:
    """Whether it is one of `interpolate`'s, forward or backward."""
    name: str = operator.name().removeprefix("aten::")
    return name.startswith(("upsample_", "_upsample_"))


@contextmanager
def whole_operators() -> Iterator[None]:
    """While it lasts, the dispatcher knows nothing of PyTorch's Python rules for resampling, and
    traces `one_hot` as one operator."""
    hidden: list[tuple[Any, Any, Any]] = []
    try:
        for operator in [*_resampling(), _one_hot]:
            hidden += [(operator, key, operator.py_kernels.pop(key, None)) for key in _KEYS]
            operator._dispatch_cache.clear()
        _one_hot.py_kernels[_COMPOSITE] = one_hot
        yield
    finally:
        for operator, key, rule in hidden:
            operator.py_kernels.pop(key, None)
            if rule is not None:
                operator.py_kernels[key] = rule
            operator._dispatch_cache.clear()


def _resampling() -> list[Any]:
    packets = (
        getattr(torch.ops.aten, name)
        for name in dir(torch._C._nn)
        if name.startswith(("upsample_", "_upsample_"))
    )
    return [
        getattr(packet, overload)
        for packet in packets
        for overload in packet.overloads()
        if overload in ("default", "vec")
    ]
