from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.utils import counters
from torch._subclasses.fake_tensor import FakeTensorMode

import neuron_compile
from neuron_compile.lowering.decompose.known_sizes import register_known_sizes

TARGETS = torch.tensor([[1, 1, 2], [3, 2, 0]])
INPUT_LENGTHS, TARGET_LENGTHS = torch.tensor([7, 6]), torch.tensor([3, 2])


def loss(
    scores: torch.Tensor,
    inputs: Any,
    targets: Any,
    reduction: str = "mean",
) -> torch.Tensor:
    return F.ctc_loss(scores.log_softmax(-1), TARGETS, inputs, targets, reduction=reduction)


@pytest.mark.parametrize("backend", ["neuron", neuron_compile.neuron])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_ctc_loss_with_lengths_as_tensors_is_one_graph(backend: Any, reduction: str) -> None:
    scores = torch.randn(7, 2, 4, requires_grad=True)
    compiled = torch.compile(loss, backend=backend, dynamic=False, fullgraph=True)
    actual = compiled(scores, INPUT_LENGTHS, TARGET_LENGTHS, reduction)
    expected = loss(scores, INPUT_LENGTHS, TARGET_LENGTHS, reduction)
    torch.testing.assert_close(actual, expected)
    (gradient,) = torch.autograd.grad(actual.sum(), scores)
    (wanted,) = torch.autograd.grad(expected.sum(), scores)
    torch.testing.assert_close(gradient, wanted)


def test_ctc_loss_with_lengths_as_numbers_is_eagers() -> None:
    counters.clear()
    scores = torch.randn(7, 2, 4)
    actual = torch.compile(loss, backend="neuron", dynamic=False)(scores, [7, 6], [3, 2])
    torch.testing.assert_close(actual, loss(scores, [7, 6], [3, 2]))
    assert sum(counters["graph_break"].values()) == 1


def test_another_backend_breaks_its_graph_as_before() -> None:
    counters.clear()
    torch.compile(loss, backend="eager")(torch.randn(7, 2, 4), INPUT_LENGTHS, TARGET_LENGTHS)
    assert sum(counters["graph_break"].values()) == 1


def test_outside_dynamo_lengths_of_both_kinds_are_known() -> None:
    register_known_sizes()
    with FakeTensorMode(allow_non_fake_inputs=True):
        probabilities = torch.empty(7, 2, 4)
        of_numbers = torch.ops.aten._ctc_loss(probabilities, TARGETS, [7, 6], [2, 1])
        of_tensors = torch.ops.aten._ctc_loss(probabilities, TARGETS, INPUT_LENGTHS, TARGET_LENGTHS)
    assert [tuple(part.shape) for part in of_numbers] == [(2,), (2, 7, 5)]
    assert [tuple(part.shape) for part in of_tensors] == [(2,), (2, 7, 7)]
