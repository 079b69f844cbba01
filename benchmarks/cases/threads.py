"""Whether a compiled call's threads slow down the eager code that follows it."""

from __future__ import annotations

import torch
from torch import nn

from benchmarks.cases.case import Context
from benchmarks.names import AFTER, ALONE
from benchmarks.protocol import Measurement


class ThreadsCase:
    """Series: an eager network `alone`, before anything is compiled, and `after` a compiled call
    of another one each time."""

    def measure(self, context: Context) -> Measurement:
        """See `Case`."""
        torch.manual_seed(0)
        width = 8 if context.scale == "tiny" else 512
        eager, other = (
            nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
            for _ in range(2)
        )
        compiled = context.backend.compile(other)
        x = torch.randn(width, width)
        with torch.no_grad():
            for _ in range(3):
                eager(x)
            alone = context.clock.repeatedly(lambda: eager(x), context.seconds)
            for _ in range(3):
                compiled(x)
            after = context.clock.repeatedly(
                lambda: eager(x), context.seconds, before=lambda: compiled(x)
            )
        return Measurement({ALONE: alone, AFTER: after})
