"""How near a result must be to eager's: what PyTorch's own tests ask of each entry."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import torch
from torch.testing._comparison import default_tolerances
from torch.testing._internal.common_device_type import precisionOverride, toleranceOverride

# Suites of PyTorch that compare with other things than another implementation of the same call.
_OTHER_DEVICES: Final = ("cuda", "mps", "xpu", "meta")


class Tolerance(NamedTuple):
    """`|actual - expected| <= atol + rtol * |expected|`; `is_given` by an expectation."""

    rtol: float
    atol: float
    is_given: bool = False


def tolerance_of(op: Any, dtype: torch.dtype) -> Tolerance:
    """The widest tolerance that the entry declares for the CPU, else the dtype's default."""
    rtol, atol = (
        default_tolerances(dtype) if dtype.is_floating_point or dtype.is_complex else (0.0, 0.0)
    )
    for decorator in op.decorators:
        if getattr(decorator, "device_type", None) in _OTHER_DEVICES:
            continue
        for override in getattr(decorator, "decorators", (decorator,)):
            if isinstance(override, toleranceOverride) and dtype in override.d:
                atol, rtol = max(atol, override.d[dtype].atol), max(rtol, override.d[dtype].rtol)
            elif isinstance(override, precisionOverride) and dtype in override.d:
                atol = max(atol, override.d[dtype])
    return Tolerance(rtol, atol)
