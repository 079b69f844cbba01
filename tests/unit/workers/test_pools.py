"""The process's pools."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from neuron_compile.workers import pools
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.pool import PoolClosedError
from neuron_compile.workers.request import Request


@pytest.fixture(autouse=True)
def closed_pools() -> Iterator[None]:
    pools.close_pools()
    yield
    pools.close_pools()


def test_each_size_has_one_pool() -> None:
    assert pools.pool_of(1) is pools.pool_of(1)
    assert pools.pool_of(1) is not pools.pool_of(3)
    assert pools.pool_of(3).size == 3


def test_after_closing_there_are_new_ones() -> None:
    old = pools.pool_of(1)
    pools.close_pools()
    assert pools.pool_of(1) is not old
    with pytest.raises(PoolClosedError):
        old.run(Request("lower", {}), ActionLimits())
