"""One training step of every architecture in the zoo: loss and every gradient as in eager."""

from __future__ import annotations

import pytest

from models.transformers_zoo import ZOO, build
from training_parity import train_parity

# What Dynamo says about the models' own code: a graph break's non-leaf argument, an instantiated
# autograd function (bloom), a cached version check (mamba).
pytestmark = [
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf"),
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(ZOO))
def test_one_step_follows_eager(name: str) -> None:
    model, batch = build(name)
    train_parity(model, batch, steps=1)
