"""Every workload computes at its smallest scale, and is of the size its name promises."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
import torch._dynamo

from benchmarks.workloads.listing import MATRIX_BOUND, NAMES, workload_named
from tiers import slow_unless

# The others are built by transformers, which takes seconds to import.
WRITTEN_HERE = [("mlp",), ("u_net",), ("lstm",), ("dlrm",), ("diffusion",)]


@pytest.fixture(autouse=True)
def dynamo_as_it_was() -> Iterator[None]:
    """The recurrent workload sets a switch of Dynamo for its process."""
    with torch._dynamo.config.patch(allow_rnn=False):
        yield


@pytest.mark.parametrize("name", slow_unless(WRITTEN_HERE, [(name,) for name in NAMES]))
def test_predicts_and_trains(name: str) -> None:
    built = workload_named(name).built("tiny")
    with torch.no_grad():
        assert built.predict(built.model, built.batch).isfinite().all()
    loss = built.loss(built.model, built.batch)
    loss.backward()
    assert loss.ndim == 0
    assert [n for n, p in built.model.named_parameters() if p.grad is None] == []


@pytest.mark.parametrize("name", [name for (name,) in WRITTEN_HERE])
def test_weights_and_batch_are_the_same_in_every_process(name: str) -> None:
    one, other = workload_named(name).built("tiny"), workload_named(name).built("tiny")
    torch.testing.assert_close(one.batch, other.batch, rtol=0, atol=0)
    torch.testing.assert_close(one.model.state_dict(), other.model.state_dict(), rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, millions", [("gpt2_128", 124), ("bert_128", 110), ("llama_100m", 100)]
)
def test_size_is_as_named(name: str, millions: int) -> None:
    with torch.device("meta"):
        built = workload_named(name).built("full")
    count = sum(parameter.numel() for parameter in built.model.parameters())
    assert count / 1e6 == pytest.approx(millions, rel=0.02)


def test_matrix_bound_workloads_are_workloads() -> None:
    assert set(MATRIX_BOUND) <= set(NAMES)
