from __future__ import annotations

from collections.abc import Iterator

import pytest

from neuron_compile.workers.pool import WorkerPool

FAULTY = "workers.faulty"


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    """Two workers that know how to fail."""
    made = WorkerPool(2, module=FAULTY)
    yield made
    made.close()
