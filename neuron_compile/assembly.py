"""Puts a compiler together from options and settings. The only place that does."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from neuron_compile.artifact_store import ArtifactStore
from neuron_compile.build import Build
from neuron_compile.cache import (
    CacheError,
    CacheLocation,
    CachePolicy,
    Limits,
    RemotePolicy,
    default_directory,
    interpret_cache_url,
)
from neuron_compile.codegen.emulation import Emulation
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.compile_report import REPORTER
from neuron_compile.compiler import Compiler
from neuron_compile.debug_folder import DebugFolder
from neuron_compile.errors import OptionsError
from neuron_compile.observe import Observer, Observers, log
from neuron_compile.options import CompileOptions
from neuron_compile.settings import Settings
from neuron_compile.torch_logs import TorchLogs
from neuron_compile.warm_start.portable import record_artifact
from neuron_compile.workers.in_process import InProcess
from neuron_compile.workers.in_workers import InWorkers
from neuron_compile.workers.limits import DEFAULT_SECONDS, ActionLimits, default_memory_limit
from neuron_compile.workers.runner import ActionRunner

# What a worker has for a program beyond the time limit of neuronx-cc.
_SLACK_SECONDS: Final = 120.0


def assemble(options: CompileOptions, settings: Settings) -> Compiler:
    """The compiler for one torch.compile call."""
    generator = generator_for(options, settings)
    cache = cache_for(settings)
    folder = settings.debug_dir or cache.directory
    runner = runner_for(options, generator, folder)
    if settings.require_cache:
        # Nothing will be compiled: no worker is started for it.
        runner = InProcess(generator)
    emulator = emulator_for(options, settings, generator)
    values = emulator and Build(emulator, cache, runner_for(options, emulator, folder))
    # Who asks for every stage's output gets every stage.
    stores_graphs = settings.debug_dir is None
    return _make(options, generator, cache, _observer(settings), runner, values, stores_graphs)


_make: Callable[..., Compiler] = Compiler


@contextmanager
def compilers_of(make: Callable[..., Compiler]) -> Iterator[None]:
    """Within it, `assemble` gives what `make` makes of `Compiler`'s arguments, in every thread."""
    global _make
    before, _make = _make, make
    try:
        yield
    finally:
        _make = before


def generator_for(options: CompileOptions, settings: Settings) -> CodeGenerator:
    """The code generator of the target.

    Raises `CodegenError` if its tools are missing, `OptionsError` for flags that cannot be.
    """
    if not options.compile_target.is_device:
        emulation = Emulation(None, options.auto_cast, options.auto_cast_type)
        return _host_generator(options, settings, emulation)
    from neuron_compile.codegen.neuronx_cc.generator import NeuronxCodeGenerator

    return NeuronxCodeGenerator(
        options.compile_target,
        optimization_level=options.optimization_level,
        model_type=options.model_type,
        auto_cast=options.auto_cast,
        auto_cast_type=options.auto_cast_type,
        logical_cores=options.lnc,
        extra_flags=settings.neuron_cc_flags,
        time_limit_seconds=options.time_limit or None,
        version=settings.cc_version,
        progress=_log_progress,
        keep_folder=settings.debug_dir and settings.debug_dir / "neuronx-cc",
    )


def emulator_for(
    options: CompileOptions, settings: Settings, generator: CodeGenerator
) -> HostCodeGenerator | None:
    """What makes the programs that compute the values where NEFFs are only compiled; else None."""
    if not options.is_compile_only:
        return None
    from neuron_compile.codegen.neuronx_cc.generator import NeuronxCodeGenerator

    assert isinstance(generator, NeuronxCodeGenerator)
    return _host_generator(options, settings, Emulation(generator.device, *generator.auto_cast))


def _host_generator(
    options: CompileOptions, settings: Settings, emulation: Emulation
) -> HostCodeGenerator:
    return HostCodeGenerator(
        optimization_level=options.optimization_level,
        xla_flags=settings.xla_flags,
        emulation=None if emulation.changes_nothing else emulation.to_json(),
    )


def _log_progress(seconds: float, line: str) -> None:
    log.info("neuronx-cc, %.0f s: %s", seconds, line)


def runner_for(options: CompileOptions, generator: CodeGenerator, folder: Path) -> ActionRunner:
    """What carries out the actions; reproducers of failures go under `folder`."""
    if options.workers == 0:
        return InProcess(generator, reproducers=folder)
    memory, seconds = options.memory_limit, options.time_limit
    if memory is None:
        memory = default_memory_limit()
    lowering = ActionLimits(memory or None, DEFAULT_SECONDS if seconds is None else seconds or None)
    codegen = lowering
    if generator.target.is_device:
        # neuronx-cc may rightly take hours, and its generator keeps the user's limit, if there is
        # one. The worker's is for what the generator does besides.
        codegen = ActionLimits(memory or None, seconds + _SLACK_SECONDS if seconds else None)
    return InWorkers(
        options.workers,
        generator,
        lower_limits=lowering,
        generate_limits=codegen,
        reproducers=folder,
    )


def cache_for(settings: Settings) -> ArtifactStore:
    """The artifact cache that the settings name. One object a process for each.

    Raises `OptionsError` for a URL that names no place.
    """
    place = _named_by_url(settings)
    limits = Limits()
    if settings.cache_size_bytes is not None:
        limits = Limits(max_bytes=settings.cache_size_bytes)
    remote = None
    if place.remote is not None:
        remote = RemotePolicy(place.remote, write_back=settings.cache_write_remote)
    policy = CachePolicy(
        limits=limits,
        require_cache=settings.require_cache,
        allow_shared=settings.cache_trust,
        key_file=settings.cache_key_file,
        remote=remote,
    )
    return _open_cache(settings.cache_dir or place.directory or default_directory(), policy)


def _named_by_url(settings: Settings) -> CacheLocation:
    if settings.cache_url is None:
        return CacheLocation(None, None)
    try:
        return interpret_cache_url(settings.cache_url, has_directory=settings.cache_dir is not None)
    except CacheError as error:
        raise OptionsError(
            "the environment variable NEURON_COMPILE_CACHE_URL has a value that cannot be used",
            where=(f"NEURON_COMPILE_CACHE_URL={settings.cache_url}",),
            why=f"{error}.",
            hint="set it to a folder, or to a URL such as s3://bucket/folder.",
        ) from error


@functools.cache
def _open_cache(directory: Path, policy: CachePolicy) -> ArtifactStore:
    store = ArtifactStore(directory, policy=policy)
    store.on_use = record_artifact
    return store


def _observer(settings: Settings) -> Observer:
    observers: list[Observer] = [REPORTER, TorchLogs()]
    if settings.debug_dir is not None:
        observers.append(DebugFolder(settings.debug_dir))
    return Observers(*observers)
