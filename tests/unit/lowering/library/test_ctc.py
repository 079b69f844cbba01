from __future__ import annotations

from typing import Any

import pytest
import torch

from unit.lowering.library.against_eager import overload, run

TIMES, CLASSES = 7, 5
# The first repeats a label, the third is empty, the fourth is too long for its sequence.
TARGETS = torch.tensor([[1, 1, 2], [3, 4, 0], [0, 0, 0], [2, 2, 2], [4, 1, 3]])
TARGET_LENGTHS = [3, 2, 0, 3, 3]
INPUT_LENGTHS = [7, 4, 5, 4, 7]


def log_probs(dtype: torch.dtype = torch.float32) -> torch.Tensor:
    scores = torch.randn(TIMES, len(TARGET_LENGTHS), CLASSES, dtype=dtype)
    return scores.log_softmax(-1)


def arguments(blank: int, flat: bool) -> tuple[torch.Tensor, ...]:
    targets = TARGETS.clone()
    targets[targets == blank] = (blank + 1) % CLASSES
    if flat:
        rows = [row[:length] for row, length in zip(targets, TARGET_LENGTHS, strict=True)]
        targets = torch.cat(rows)
    return (targets,)


def check(blank: int, flat: bool, zero_infinity: bool, dtype: torch.dtype, **tensors: Any) -> None:
    name = "Tensor" if tensors else "default"
    lengths = [tensors.get("inputs", INPUT_LENGTHS), tensors.get("targets", TARGET_LENGTHS)]
    probabilities = log_probs(dtype).requires_grad_()
    call = (*arguments(blank, flat), INPUT_LENGTHS, TARGET_LENGTHS, blank, zero_infinity)
    expected, expected_alpha = overload("aten._ctc_loss.default")(probabilities, *call)
    call = (*arguments(blank, flat), *lengths, blank, zero_infinity)
    actual, alpha = run(
        f"aten._ctc_loss.{name}", [expected, expected_alpha], probabilities.detach(), *call
    )
    torch.testing.assert_close(actual, expected.detach())

    grad = torch.randn(len(TARGET_LENGTHS), dtype=dtype)
    (wanted,) = torch.autograd.grad(expected, probabilities, grad)
    (gradient,) = run(
        f"aten._ctc_loss_backward.{name}",
        [wanted],
        *(grad, probabilities.detach(), *call[:3], actual, alpha, blank, zero_infinity),
    )
    torch.testing.assert_close(gradient, wanted, equal_nan=True)


@pytest.mark.parametrize("blank", [0, 4])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_loss_and_gradient(blank: int, flat: bool, zero_infinity: bool) -> None:
    check(blank, flat, zero_infinity, torch.float32)


def test_double_precision() -> None:
    check(0, False, True, torch.float64)


def test_lengths_as_tensors() -> None:
    for dtype in (torch.int64, torch.int32):
        lengths = [torch.tensor(values, dtype=dtype) for values in (INPUT_LENGTHS, TARGET_LENGTHS)]
        check(0, False, True, torch.float32, inputs=lengths[0], targets=lengths[1])


def test_no_input_at_all() -> None:
    probabilities = torch.randn(3, 2, 4).log_softmax(-1)
    targets = torch.tensor([[1], [1]])
    (expected, alpha) = overload("aten._ctc_loss.default")(probabilities, targets, [0, 0], [1, 0])
    actual, _ = run(
        "aten._ctc_loss.default", [expected, alpha], probabilities, targets, [0, 0], [1, 0]
    )
    assert actual.tolist() == expected.tolist() == [float("inf"), 0.0]
