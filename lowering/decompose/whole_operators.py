"""Operators that PyTorch takes apart before any table is asked, kept whole.

Its own rules for them stand where autograd is traced, so that their gradients are scatters of the
parts; the function library has the gradients as operators, and knows the positions while tracing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch

_KEYS: Final = (
    torch._C.DispatchKey.Autograd,
    torch._C.DispatchKey.CompositeImplicitAutograd,
)


def is_resampling(operator: Any) -> bool:
    """Whether it is one of `interpolate`'s, forward or backward."""
    name: str = operator.name().removeprefix("aten::")
    return name.startswith(("upsample_", "_upsample_"))


@contextmanager
def whole_operators() -> Iterator[None]:
    """While it lasts, the dispatcher knows nothing of PyTorch's Python rules for resampling."""
    hidden: list[tuple[Any, Any, Any]] = []
    try:
        for operator in _resampling():
            rules = {key: operator.py_kernels.pop(key, None) for key in _KEYS}
            hidden += [(operator, key, rule) for key, rule in rules.items() if rule is not None]
            operator._dispatch_cache.clear()
        yield
    finally:
        for operator, key, rule in hidden:
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
