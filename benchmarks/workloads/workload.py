"""What a workload is: a model, a batch, and what is computed with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn

from benchmarks.names import MODES

SCALES: Final = ("tiny", "quick", "full")


@dataclass(frozen=True, slots=True)
class Built:
    """`predict(model, batch)` is what inference computes, `loss(model, batch)` the scalar that is
    trained on."""

    model: nn.Module
    batch: dict[str, Tensor]
    predict: Callable[[Any, dict[str, Tensor]], Tensor]
    loss: Callable[[Any, dict[str, Tensor]], Tensor]


@dataclass(frozen=True, slots=True)
class Workload:
    """A named model with its batch, built at a scale with seeded random weights."""

    name: str
    build: Callable[[str], Built]
    modes: tuple[str, ...] = MODES

    def built(self, scale: str) -> Built:
        """The model and its batch; `scale` is one of `SCALES`."""
        torch.manual_seed(0)
        return self.build(scale)


class Loss(nn.Module):
    """Computes a workload's loss: what is compiled to be trained."""

    def __init__(self, built: Built) -> None:
        super().__init__()
        self.model = built.model
        self.loss = built.loss

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """A scalar."""
        return self.loss(self.model, batch)


class Prediction(nn.Module):
    """Computes a workload's prediction: what is compiled for inference."""

    def __init__(self, built: Built) -> None:
        super().__init__()
        self.model = built.model
        self.predict = built.predict

    def forward(self, batch: dict[str, Tensor]) -> Tensor:
        """The model's output."""
        return self.predict(self.model, batch)
