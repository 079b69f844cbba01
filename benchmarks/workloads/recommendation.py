"""A recommendation model: M. Naumov and others, DLRM, 2019 (arXiv:1906.00091), scaled down."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn, rand, randint, randn
from torch.nn import functional

from benchmarks.workloads.workload import Built, Workload

_DENSE, _PER_BAG = 13, 4
# Scale -> tables, rows of each, width, batch.
_SIZES = {"tiny": (2, 10, 4, 3), "quick": (8, 1000, 32, 128), "full": (8, 20_000, 64, 256)}


def _perceptron(*widths: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Recommendation(nn.Module):
    """Dense features (N, 13) and categories (N, tables, 4) to a logit each (N,)."""

    def __init__(self, tables: int, rows: int, width: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.bottom = _perceptron(_DENSE, 8 * width, 4 * width, width)
        pairs = tables * (tables + 1) // 2
        self.top = _perceptron(width + pairs, 8 * width, 4 * width, 1)
        self.pairs = torch.triu_indices(tables + 1, tables + 1, 1)

    def forward(self, dense: Tensor, categories: Tensor) -> Tensor:
        base = self.bottom(dense)
        embedded = [table(categories[:, i]).sum(1) for i, table in enumerate(self.tables)]
        features = torch.stack([base, *embedded], dim=1)
        products = features @ features.transpose(1, 2)
        interactions = products[:, self.pairs[0], self.pairs[1]]
        logits: Tensor = self.top(torch.cat([base, interactions], dim=1)).squeeze(1)
        return logits


def _predict(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    logits: Tensor = model(batch["dense"], batch["categories"])
    return logits


def _loss(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    logits = model(batch["dense"], batch["categories"])
    return functional.binary_cross_entropy_with_logits(logits, batch["clicked"])


def _build(scale: str) -> Built:
    tables, rows, width, count = _SIZES[scale]
    batch = {
        "dense": randn(count, _DENSE),
        "categories": randint(rows, (count, tables, _PER_BAG)),
        "clicked": rand(count).round(),
    }
    return Built(Recommendation(tables, rows, width), batch, _predict, _loss)


WORKLOADS = (Workload("dlrm", _build),)
