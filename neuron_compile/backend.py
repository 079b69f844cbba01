"""The function behind `torch.compile(model, backend="neuron")`.

Reads the user's wishes, refuses what cannot be had, and hands over to AOTAutograd. Nothing else
happens here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neuron_compile.lowering.decompose.differentiable_flex_attention import (
    register_differentiable_flex_attention,
)
from neuron_compile.lowering.decompose.known_sizes import register_known_sizes
from neuron_compile.warm_start.portable import register_artifacts

if TYPE_CHECKING:
    import torch.fx

# Dynamo asks before it has a graph to hand over.
register_known_sizes()
register_differentiable_flex_attention()
# `torch.compiler.load_cache_artifacts` may be called before anything is compiled.
register_artifacts()


def neuron(
    gm: torch.fx.GraphModule,
    example_inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """Compile a graph captured by Dynamo, forward and backward, into NEFFs.

    `options` are those of `CompileOptions`; a `mode` other than the default is ignored with a
    warning. Raises `OptionsError`, `DynamicShapesError`, `UnsupportedOpError`, `LoweringError`,
    `CodegenError`, `EnvironmentMismatchError`.
    """
    from neuron_compile.environment import check_environment
    from neuron_compile.lowering.native_logs import quiet_native_logs

    check_environment()
    # Before any of the modules below loads jaxlib.
    quiet_native_logs()

    from neuron_compile.aot import compile_with_autograd
    from neuron_compile.assembly import assemble
    from neuron_compile.options import CompileOptions
    from neuron_compile.settings import read_settings
    from neuron_compile.static_shapes import require_static_shapes

    settings = read_settings()
    chosen = CompileOptions.from_user(options, settings)
    for name in settings.unknown:
        _warn_of_variable(name)
    if mode not in (None, "default"):
        _warn_of_mode(mode)
    require_static_shapes(gm, example_inputs)
    return compile_with_autograd(gm, example_inputs, assemble(chosen, settings))


_warned: set[str] = set()


def _warn_of_mode(mode: str) -> None:
    _warn_once(
        f"backend neuron has one mode: mode={mode!r} is ignored. Use "
        'options={"optimization_level": 1, 2 or 3} to trade compile time for speed.'
    )


def _warn_of_variable(name: str) -> None:
    import difflib

    from neuron_compile.settings import VARIABLES

    near = difflib.get_close_matches(name, VARIABLES, n=1)
    meant = f" Did you mean {near[0]}?" if near else ""
    _warn_once(f"the environment variable {name} is not one of neuron-compile's.{meant}")


def _warn_once(text: str) -> None:
    from neuron_compile.errors import NeuronCompileWarning

    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, NeuronCompileWarning, stacklevel=3)
