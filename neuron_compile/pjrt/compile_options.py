"""The options XLA:CPU compiles under.

Everything here is part of the host NEFF's cache key through `compile_flags`.
"""

from __future__ import annotations

from typing import Any

# XLA may keep more precision than bf16 and f16 between operations, which changes results where
# PyTorch rounds after each one.
_ALWAYS: tuple[tuple[str, bool | int], ...] = (("xla_allow_excess_precision", False),)

# XLA's backend level drives LLVM; below 3, code generation is faster and the code slower.
_BACKEND_LEVELS = {1: 1, 2: 3, 3: 3}


def compile_flags(optimization_level: int) -> tuple[tuple[str, bool | int], ...]:
    """XLA debug options for an optimization level from 1 to 3."""
    level = _BACKEND_LEVELS[optimization_level]
    return (*_ALWAYS, ("xla_backend_optimization_level", level))


def compile_options(optimization_level: int) -> Any:
    """`xla_client.CompileOptions` with those flags, for one device and no partitioning."""
    from jaxlib import xla_client

    options = xla_client.CompileOptions()
    options.env_option_overrides = list(compile_flags(optimization_level))
    return options
