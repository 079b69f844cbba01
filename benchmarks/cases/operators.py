"""Operators that are not products: each compiled by itself on a million elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.cases.case import Context
from benchmarks.protocol import Measurement

OPERATORS: Final[dict[str, Callable[[Tensor], Any]]] = {
    "sort": lambda x: x.sort(),
    "topk": lambda x: x.topk(min(50, x.shape[1])),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: x.cumprod(1),
    "argmax": lambda x: x.argmax(1),
    "softmax": lambda x: x.softmax(1),
    "fft": lambda x: torch.view_as_real(torch.fft.rfft(x)),
    "interpolate": lambda x: functional.interpolate(
        x[None, None], scale_factor=2.0, mode="bilinear", align_corners=False
    ),
    "scatter_add": lambda x: torch.zeros_like(x).scatter_add(1, x.argsort(1), x),
    "normal": torch.randn_like,
}


class OperatorsCase:
    """A series for each operator."""

    def measure(self, context: Context) -> Measurement:
        """See `Case`."""
        torch.manual_seed(0)
        side = 8 if context.scale == "tiny" else 1024
        x = torch.randn(side, side)
        measured = Measurement()
        seconds = context.seconds / math.sqrt(len(OPERATORS))
        for name, operator in OPERATORS.items():
            compiled = context.backend.compile(operator)
            for _ in range(3):
                compiled(x)
            call = _bound(compiled, x)
            measured.series[name] = context.clock.repeatedly(call, seconds)
        return measured


def _bound(function: Callable[[Tensor], Any], x: Tensor) -> Callable[[], Any]:
    return lambda: function(x)
