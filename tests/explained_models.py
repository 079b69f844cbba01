"""Models to explain, each with something to be found."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


class Classifier(nn.Module):
    """Every route: products by Torch-MLIR, sorting by the library, softmax decomposed."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.norm = nn.Linear(8, 4), nn.BatchNorm1d(4)

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        h = self.norm(self.linear(x)) * scale
        result: Tensor = h.sort(-1)[0].softmax(-1)
        return result


class Factorizer(nn.Module):
    """Legal on the host; a device has neither complex numbers nor LAPACK."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.eye(3))

    def forward(self, x: Tensor) -> Tensor:
        factor = torch.linalg.cholesky(self.weight @ self.weight.T + x.abs().diag())
        result: Tensor = torch.fft.rfft(factor).abs().sum()
        return result


class Broken(nn.Module):
    """Broken in two by a call that Dynamo cannot trace."""

    def forward(self, x: Tensor) -> Tensor:
        h = x.sin()
        torch._dynamo.graph_break()
        return h.cos()


def make_classifier() -> Any:
    return Classifier(), (torch.randn(6, 8),), {"scale": 2.0}


def make_factorizer() -> Any:
    return Factorizer(), (torch.randn(3),)


def make_nothing() -> Any:
    return Classifier()
