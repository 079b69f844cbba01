"""What a call costs whose operations cost next to nothing: 16 linear layers, 32 parameters."""

from __future__ import annotations

import torch
from torch import nn

from benchmarks.cases.case import Context
from benchmarks.names import CALL
from benchmarks.protocol import Measurement

_LAYERS, _WIDTH = 16, 32


class DispatchCase:
    """Series: `call`, without autograd."""

    def measure(self, context: Context) -> Measurement:
        """See `Case`."""
        torch.manual_seed(0)
        model = nn.Sequential(*(nn.Linear(_WIDTH, _WIDTH) for _ in range(_LAYERS)))
        compiled = context.backend.compile(model)
        x = torch.randn(1, _WIDTH)
        with torch.no_grad():
            for _ in range(100):
                compiled(x)
            return Measurement(
                {CALL: context.clock.repeatedly(lambda: compiled(x), context.seconds)}
            )
