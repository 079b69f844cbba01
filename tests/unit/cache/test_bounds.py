"""When it is time to collect."""

from __future__ import annotations

import pytest

from neuron_compile.cache import Limits
from neuron_compile.cache.bounds import is_due
from neuron_compile.cache.usage import Usage


@pytest.mark.parametrize(
    "now_there, then, is_time",
    [
        (Usage(900, 9, 0.0), Usage(500, 5, 0.0), False),
        (Usage(1001, 9, 0.0), Usage(900, 9, 0.0), True),
        (Usage(900, 11, 0.0), Usage(900, 9, 0.0), True),
        # All was held the last time, so it is still too full: not again until it grows by 5 %.
        (Usage(2040, 1, 0.0), Usage(2000, 1, 0.0), False),
        (Usage(2050, 1, 0.0), Usage(2000, 1, 0.0), True),
        (Usage(10, 1, 0.0, False), Usage(10, 1, 0.0, False), True),
        (Usage(10, 1, -90_000.0), Usage(10, 1, -90_000.0), True),
        (Usage(10, 1, 90_000.0), Usage(10, 1, 90_000.0), True),
    ],
)
def test_a_collection_is_due_over_a_limit_or_after_a_day(
    now_there: Usage, then: Usage, is_time: bool
) -> None:
    limits = Limits(max_bytes=1000, max_entries=10)
    assert is_due(now_there, then, limits, now=0.0) == is_time


def test_without_limits_size_does_not_count() -> None:
    huge = Usage(1 << 60, 1 << 40, 0.0)
    assert not is_due(huge, Usage(0, 0, 0.0), Limits(None, None, 1.0), now=0.0)
