"""The rate of one large float32 matrix product: what matrix-bound models are held against."""

from __future__ import annotations

import torch

from benchmarks.cases.case import Context
from benchmarks.names import PRODUCT, flops_of
from benchmarks.protocol import Measurement


class ProductCase:
    """Series: `product`; fact: its floating point operations."""

    def measure(self, context: Context) -> Measurement:
        """See `Case`."""
        size = 16 if context.scale == "tiny" else 2048
        left, right = torch.randn(size, size), torch.randn(size, size)
        product = context.backend.compile(torch.mm)
        for _ in range(3):
            product(left, right)
        series = context.clock.repeatedly(lambda: product(left, right), context.seconds)
        return Measurement({PRODUCT: series}, {flops_of(PRODUCT): 2 * size**3})
