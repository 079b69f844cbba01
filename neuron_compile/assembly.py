"""Puts a compiler together from options and settings. The only place that does."""

from __future__ import annotations

import functools
from pathlib import Path

from neuron_compile.cache import (
    ActionCache,
    CachePolicy,
    Limits,
    default_directory,
    interpret_cache_url,
)
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.compile_report import REPORTER
from neuron_compile.compiler import Compiler
from neuron_compile.debug_folder import DebugFolder
from neuron_compile.errors import CodegenError
from neuron_compile.lowering.native_logs import quiet_native_logs
from neuron_compile.observe import Observer, Observers
from neuron_compile.options import CompileOptions
from neuron_compile.settings import Settings
from neuron_compile.torch_logs import TorchLogs


def assemble(options: CompileOptions, settings: Settings) -> Compiler:
    """The compiler for one torch.compile call."""
    # The first stage to load jaxlib is another one when artifacts are cached.
    quiet_native_logs()
    return Compiler(
        options, generator_for(options, settings), cache_for(settings), _observer(settings)
    )


def generator_for(options: CompileOptions, settings: Settings) -> CodeGenerator:
    """The code generator of the target. Raises `CodegenError` if its tools are missing."""
    if options.compile_target.is_device:
        raise CodegenError(
            f"no code generator for {options.target} is installed",
            why="neuronx-cc was not found.",
            hint='compile for the host with options={"target": "host"}.',
        )
    return HostCodeGenerator(
        optimization_level=options.optimization_level, xla_flags=settings.xla_flags
    )


def cache_for(settings: Settings) -> ActionCache:
    """The artifact cache that the settings name. One object a process for each."""
    directory = settings.cache_dir
    if settings.cache_url is not None and directory is None:
        directory = interpret_cache_url(settings.cache_url).directory
    limits = Limits()
    if settings.cache_size_bytes is not None:
        limits = Limits(max_bytes=settings.cache_size_bytes)
    policy = CachePolicy(
        limits=limits,
        require_cache=settings.require_cache,
        allow_shared=settings.cache_trust,
        key_file=settings.cache_key_file,
    )
    return _open_cache(directory or default_directory(), policy)


@functools.cache
def _open_cache(directory: Path, policy: CachePolicy) -> ActionCache:
    return ActionCache(directory, policy=policy)


def _observer(settings: Settings) -> Observer:
    observers: list[Observer] = [REPORTER, TorchLogs()]
    if settings.debug_dir is not None:
        observers.append(DebugFolder(settings.debug_dir))
    return Observers(*observers)
