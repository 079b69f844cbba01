"""A torch.compile backend for AWS Trainium, with a host target that runs anywhere.

Importing this package imports neither torch nor a compiler: `torch.compile(model,
backend="neuron")` finds the backend through its entry point, and the names below load on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from neuron_compile import loaded_source as loaded_source  # looks at the files now
from neuron_compile.errors import (
    ArtifactError,
    CacheMissError,
    CodegenError,
    DynamicShapesError,
    EnvironmentMismatchError,
    ExecutionError,
    Float64Warning,
    LoweringError,
    NeuronCompileError,
    NeuronCompileWarning,
    OptionsError,
    SourceLine,
    UnsupportedOp,
    UnsupportedOpError,
)
from neuron_compile.version import __version__

if TYPE_CHECKING:
    from neuron_compile.backend import neuron
    from neuron_compile.compile_report import report
    from neuron_compile.explanation.explain import explain

_LAZY = {
    "explain": "neuron_compile.explanation.explain",
    "neuron": "neuron_compile.backend",
    "report": "neuron_compile.compile_report",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})


__all__ = [
    "neuron",
    "explain",
    "report",
    "ArtifactError",
    "CacheMissError",
    "CodegenError",
    "DynamicShapesError",
    "EnvironmentMismatchError",
    "ExecutionError",
    "Float64Warning",
    "LoweringError",
    "NeuronCompileError",
    "NeuronCompileWarning",
    "OptionsError",
    "SourceLine",
    "UnsupportedOp",
    "UnsupportedOpError",
    "__version__",
]
