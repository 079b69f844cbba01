"""Torch-MLIR's MLIR context with the dialects that lowering mixes. Needs no torch."""

from __future__ import annotations

import functools
from typing import Any

# A pass that depends on the torch_c dialect, which has no registration of its own in Python.
_LOADS_TORCH_C = "builtin.module(torch-func-backend-type-conversion-for-stablehlo)"


def torch_context() -> Any:
    """A new context in which torch, torch_c and StableHLO operations parse."""
    from torch_mlir import ir
    from torch_mlir._mlir_libs import _stablehlo
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.passmanager import PassManager

    _register_passes()
    context = ir.Context()
    torch_dialect.register_dialect(context)
    empty = ir.Module.parse("module { func.func @main() { return } }", context)
    with context:
        PassManager.parse(_LOADS_TORCH_C).run(empty.operation)
    _stablehlo.register_dialect(context)
    return context


@functools.cache
def _register_passes() -> None:
    # Registering twice in a process aborts it.
    from torch_mlir._mlir_libs import _stablehlo

    _stablehlo.register_stablehlo_passes()
