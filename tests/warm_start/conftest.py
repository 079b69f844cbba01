"""A compiler that forgets everything but what is on disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.utils import counters

Function = Callable[..., Any]


class Restarts:
    """Compiles as a fresh process would: Dynamo remembers nothing, the folders do."""

    def compile(self, function: Function, **options: Any) -> Function:
        """`function` compiled by backend neuron, in a Dynamo that knows nothing."""
        torch._dynamo.reset()
        counters.clear()
        compiled: Function = torch.compile(
            function, backend="neuron", dynamic=False, options=options or None
        )
        return compiled

    @property
    def lookups(self) -> dict[str, int]:
        """What AOTAutograd's cache said since: `hit`, `miss`, `bypass`, `saved`."""
        found: Counter[str] = counters["aot_autograd"]
        prefix = "autograd_cache_"
        return {
            name.removeprefix(prefix): count
            for name, count in found.items()
            if name.startswith(prefix)
        }


@pytest.fixture
def restarts() -> Restarts:
    """See the class."""
    return Restarts()
