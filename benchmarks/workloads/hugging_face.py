"""Models of the `transformers` library with random weights, built without a download."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from benchmarks.workloads.workload import Built


def predict(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    """The logits."""
    inputs = {name: value for name, value in batch.items() if name != "labels"}
    logits: Tensor = model(**inputs).logits
    return logits


def loss(model: nn.Module, batch: dict[str, Tensor]) -> Tensor:
    """The model's own loss for the labels in the batch."""
    value: Tensor = model(**batch).loss
    return value


def built(model_class: Any, configuration: Any, batch: dict[str, Tensor]) -> Built:
    """The model of a configuration, as a workload's."""
    return Built(model_class(configuration), batch, predict, loss)
