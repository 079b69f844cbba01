"""The ways that an entry's operators take to StableHLO, found on its first sample."""

from __future__ import annotations

import warnings
from typing import Any, cast

import torch

from neuron_compile.aot import compile_with_autograd
from neuron_compile.compiler import Compiler
from neuron_compile.explanation.capture import Capture
from neuron_compile.explanation.lower_fully import FullLowering
from neuron_compile.explanation.routes import LIBRARY, TORCH_MLIR, operations_of
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.options import CompileOptions
from ops.entries import DTYPES
from ops.evaluation import Group
from ops.samples import samples_of

_DECOMPOSED = "decomposed"


def routes_of(op: Any) -> tuple[list[str], list[str]]:
    """The routes, and the ATen operators that the entry is traced as, forward and backward.

    Both are empty where PyTorch cannot trace the entry, or no program can hold it.
    """
    dtype = next((d for d in DTYPES if d in op.supported_dtypes("cpu")), None)
    if dtype is None:
        return [], []
    routes: set[str] = set()
    operators: dict[str, None] = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for graph in _graphs(op, dtype):
                imported = from_fx(graph.module)
                lowering = FullLowering(imported, imported.program, None, ())
                for operation in operations_of(graph.module, lowering):
                    operators[operation.operator] = None
                    routes |= {_DECOMPOSED} if operation.into else set()
                    routes |= {LIBRARY, TORCH_MLIR} & set(operation.routes)
    except Exception:
        return [], []
    order = (TORCH_MLIR, _DECOMPOSED, LIBRARY)
    return [route for route in order if route in routes], list(operators)


def _graphs(op: Any, dtype: torch.dtype) -> list[Any]:
    sample = samples_of(op, dtype, 2)[0]
    tensors = sample.tensors()
    found = Capture(CompileOptions())
    compile_with_autograd(
        cast(Any, Group([sample], [len(tensors)])), tensors, cast(Compiler, found)
    )
    return found.graphs
