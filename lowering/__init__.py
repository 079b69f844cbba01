"""FX graphs to StableHLO.

This module holds the plain data and the errors, and imports neither torch nor MLIR: `from_fx` and
`to_stablehlo` are imported from their own modules by the processes that need them.
"""

from __future__ import annotations

from neuron_compile.lowering.errors import (
    DynamicShapesError,
    LoweringError,
    NeuronCompileError,
    SourceLine,
    UnsupportedOp,
    UnsupportedOpError,
)
from neuron_compile.lowering.program import (
    CALL_MARK,
    LibraryCall,
    LoweredProgram,
    RuntimeCheck,
    Signature,
    TensorSpec,
    TorchProgram,
)

__all__ = [
    "CALL_MARK",
    "DynamicShapesError",
    "LibraryCall",
    "LoweredProgram",
    "LoweringError",
    "NeuronCompileError",
    "RuntimeCheck",
    "Signature",
    "SourceLine",
    "TensorSpec",
    "TorchProgram",
    "UnsupportedOp",
    "UnsupportedOpError",
]
