"""The product's errors and warnings, one class for each next step of the reader.

Lowering's own classes are re-exported so that users find all of them here.
"""

from __future__ import annotations

from neuron_compile.lowering import (
    DynamicShapesError,
    LoweringError,
    NeuronCompileError,
    SourceLine,
    UnsupportedOp,
    UnsupportedOpError,
)


class OptionsError(NeuronCompileError, ValueError):
    """What the user passed as `options` is wrong."""


class CodegenError(NeuronCompileError):
    """A code generator (XLA, neuronx-cc) failed or is missing."""


class ArtifactError(NeuronCompileError):
    """An artifact (NEFF, manifest, cache entry) is damaged or does not belong here."""


class CacheMissError(NeuronCompileError):
    """`NEURON_COMPILE_REQUIRE_CACHE=1` is set and a graph is not in the cache."""


class ExecutionError(NeuronCompileError):
    """A call of a compiled graph failed or cannot be made."""


class EnvironmentMismatchError(NeuronCompileError, ImportError):
    """The installed packages are not the ones this release supports."""


class NeuronCompileWarning(UserWarning):
    """Category of every warning of neuron-compile."""


class Float64Warning(NeuronCompileWarning):
    """A graph computes in float32 what was written in float64."""


__all__ = [
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
]
