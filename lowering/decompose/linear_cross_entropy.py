"""`F.linear_cross_entropy` of a batch in chunks, as products and softmaxes.

PyTorch keeps it as an operator of a library of its own, so that the scores of all classes exist for
one chunk of the batch at a time; the chunks stay chunks here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules import linear_cross_entropy as _defining_module  # noqa: F401 - registers


def batch_chunked(
    input: Tensor,  # noqa: A002 - the operator's name for it
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,  # noqa: ARG001 - always 0: PyTorch uses the operator for no other
    batch_chunk_size: int,
    acc_policy: str,  # noqa: ARG001 - sums are kept in float32 at least
    acc_dtype: torch.dtype,  # noqa: ARG001
    allow_retain_graph: bool,  # noqa: ARG001 - a value does not change
    compute_input_grad: bool,
    compute_linear_weight_grad: bool,
    compute_linear_bias_grad: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`torch_nn::_linear_cross_entropy_batch_chunked`: the mean or sum, and its gradients."""
    problem = _Problem.of(input, linear_weight, target, linear_bias, weight, ignore_index)
    if reduction == "mean":
        problem.weights = problem.weights / problem.weights.sum()
    loss = problem.weights.new_full((), float("nan") if _is_empty_mean(input, reduction) else 0.0)
    of_rows: list[Tensor] = []
    of_weight = torch.zeros_like(problem.matrix)
    of_bias = problem.matrix.new_zeros(problem.matrix.shape[0])
    for chunk in problem.chunks(batch_chunk_size):
        loss = loss + chunk.losses().sum()
        slope = chunk.slope()
        of_rows.append(slope @ problem.matrix)
        of_weight = of_weight + slope.T @ chunk.rows
        of_bias = of_bias + slope.sum(0)
    rows = torch.cat(of_rows) if of_rows else torch.zeros_like(problem.rows)
    wanted = (
        (rows, compute_input_grad, (0, 0)),
        (of_weight, compute_linear_weight_grad, (0, 0)),
        (of_bias, compute_linear_bias_grad, (0,)),
    )
    gradients = (
        gradient.to(input.dtype) if is_wanted else input.new_empty(nothing)
        for gradient, is_wanted, nothing in wanted
    )
    return (loss.to(input.dtype), *gradients)  # type: ignore[return-value]


def batch_chunked_no_reduction(
    input: Tensor,  # noqa: A002 - the operator's name for it
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    ignore_index: int,
    batch_chunk_size: int,
    acc_policy: str,  # noqa: ARG001 - sums are kept in float32 at least
    acc_dtype: torch.dtype,  # noqa: ARG001
) -> Tensor:
    """`torch_nn::_linear_cross_entropy_batch_chunked_no_reduction`: a loss for each row."""
    problem = _Problem.of(input, linear_weight, target, linear_bias, weight, ignore_index)
    losses = [chunk.losses() for chunk in problem.chunks(batch_chunk_size)]
    return torch.cat(losses).to(input.dtype) if losses else input.new_empty((0,))


def linear_cross_entropy_decompositions() -> dict[Any, Callable[..., Any]]:
    """The rules by overload."""
    library = torch.ops.torch_nn
    return {
        library._linear_cross_entropy_batch_chunked.default: batch_chunked,
        library._linear_cross_entropy_batch_chunked_no_reduction.default: (
            batch_chunked_no_reduction
        ),
    }


@dataclass
class _Problem:
    """`rows` `[N, features]`, `matrix` `[classes, features]`, `bias` `[classes]`; for each row the
    `classes` it belongs to and the `weights` of its loss, 0 where it is ignored."""

    rows: Tensor
    matrix: Tensor
    bias: Tensor | None
    classes: Tensor
    weights: Tensor

    @classmethod
    def of(
        cls,
        rows: Tensor,
        matrix: Tensor,
        target: Tensor,
        bias: Tensor | None,
        weight: Tensor | None,
        ignore_index: int,
    ) -> _Problem:
        wide = torch.promote_types(rows.dtype, torch.float32)
        counts = target != ignore_index
        classes = torch.where(counts, target, 0)
        each = torch.ones_like(target, dtype=wide)
        if weight is not None:
            each = weight.to(wide).index_select(0, classes)
        return cls(
            rows.to(wide),
            matrix.to(wide),
            None if bias is None else bias.to(wide),
            classes,
            torch.where(counts, each, 0.0),
        )

    def chunks(self, size: int) -> Iterator[_Problem]:
        for start in range(0, self.rows.shape[0], size):
            part = slice(start, start + size)
            yield _Problem(
                self.rows[part], self.matrix, self.bias, self.classes[part], self.weights[part]
            )

    def losses(self) -> Tensor:
        picked = self._log_shares().gather(1, self.classes.unsqueeze(1)).squeeze(1)
        return -picked * self.weights

    def slope(self) -> Tensor:
        """The derivative of the sum of losses by the scores, `[N, classes]`."""
        numbers = torch.arange(self.matrix.shape[0], device=self.rows.device)
        own = (self.classes.unsqueeze(1) == numbers).to(self.rows.dtype)
        return (self._log_shares().exp() - own) * self.weights.unsqueeze(1)

    def _log_shares(self) -> Tensor:
        scores = self.rows @ self.matrix.T
        return torch.log_softmax(scores if self.bias is None else scores + self.bias, 1)


def _is_empty_mean(rows: Tensor, reduction: str) -> bool:
    return reduction == "mean" and rows.shape[0] == 0
