"""Every workload by name, without importing what its model needs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from benchmarks.workloads.workload import Workload

# Name -> the module of this package that has it.
NAMES: Final = {
    "mlp": "perceptron",
    "resnet18": "vision",
    "u_net": "u_net",
    "convnext": "vision",
    "bert_128": "language",
    "gpt2_128": "language",
    "gpt2_512": "language",
    "llama_100m": "language",
    "t5": "language",
    "vit": "vision",
    "lstm": "recurrent",
    "dlrm": "recommendation",
    "diffusion": "diffusion",
}

# Those that spend their time in dense products: their rate is held against that of one product.
MATRIX_BOUND: Final = ("mlp", "bert_128", "gpt2_128", "gpt2_512", "vit")


def workload_named(name: str) -> Workload:
    """The workload. Raises `KeyError` for a name that is not in `NAMES`."""
    module = importlib.import_module(f"benchmarks.workloads.{NAMES[name]}")
    workloads: tuple[Workload, ...] = module.WORKLOADS
    return next(workload for workload in workloads if workload.name == name)
