"""A multi-layer perceptron of 4 layers, 1024 wide, on a batch of 256."""

from __future__ import annotations

from torch import Tensor, nn, randint, randn
from torch.nn import functional

from benchmarks.workloads.workload import Built, Workload

# Scale -> width, layers, batch.
_SIZES = {"tiny": (8, 2, 4), "quick": (1024, 4, 256), "full": (1024, 4, 256)}


def _predict(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    logits: Tensor = model(batch["x"])
    return logits


def _loss(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["x"]), batch["labels"])


def _build(scale: str) -> Built:
    width, depth, count = _SIZES[scale]
    layers: list[nn.Module] = []
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.GELU()]
    batch = {"x": randn(count, width), "labels": randint(width, (count,))}
    return Built(nn.Sequential(*layers), batch, _predict, _loss)


WORKLOADS = (Workload("mlp", _build),)
