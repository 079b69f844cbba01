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
from neuron_compile.workers.in_process import InProcess
from neuron_compile.workers.in_workers import InWorkers
from neuron_compile.workers.limits import DEFAULT_SECONDS, ActionLimits, default_memory_limit
from neuron_compile.workers.runner import ActionRunner


def assemble(options: CompileOptions, settings: Settings) -> Compiler:
    """The compiler for one torch.compile call."""
    # The first stage to load jaxlib is another one when artifacts are cached.
    quiet_native_logs()
    generator = generator_for(options, settings)
    cache = cache_for(settings)
    runner = runner_for(options, generator, settings.debug_dir or cache.directory)
    return Compiler(options, generator, cache, _observer(settings), runner)


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


def runner_for(options: CompileOptions, generator: CodeGenerator, folder: Path) -> ActionRunner:
    """What carries out the actions; reproducers of failures go under `folder`."""
    if options.workers == 0:
        return InProcess(generator, reproducers=folder)
    memory, seconds = options.memory_limit, options.time_limit
    if memory is None:
        memory = default_memory_limit()
    lowering = ActionLimits(memory or None, DEFAULT_SECONDS if seconds is None else seconds or None)
    # neuronx-cc may rightly take hours: it gets the user's own limit, if there is one.
    is_device = generator.target.is_device
    codegen = ActionLimits(memory or None, seconds or None) if is_device else lowering
    return InWorkers(
        options.workers,
        generator,
        lower_limits=lowering,
        generate_limits=codegen,
        reproducers=folder,
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
