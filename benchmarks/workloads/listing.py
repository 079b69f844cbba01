"""Every workload by name, without importing what its model needs."""

from __future__ import annotations

import importlib
from typing import Final

from benchmarks.workloads.workload import Workload

# Name -> the module of this package that has it.
NAMES: Final = {
    "mlp": "perceptron",
    "resnet18": "vision",
    "convnext": "vision",
    "vit": "vision",
    "bert_128": "language",
    "gpt2_128": "language",
    "gpt2_512": "language",
    "llama_100m": "language",
    "t5": "language",
}


def workload_named(name: str) -> Workload:
    """The workload. Raises `KeyError` for a name that is not in `NAMES`."""
    module = importlib.import_module(f"{__package__}.{NAMES[name]}")
    workloads: tuple[Workload, ...] = module.WORKLOADS
    return next(workload for workload in workloads if workload.name == name)
