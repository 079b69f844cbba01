"""Stored graphs to callables."""

from __future__ import annotations

import functools
import hashlib

from neuron_compile.actions import loaded_tools
from neuron_compile.compiler import Compiler
from neuron_compile.float64 import settle_float64
from neuron_compile.graph import RestoredGraph
from neuron_compile.runtime.compiled_graph import CompiledGraph
from neuron_compile.warm_start.cache_tag import own_source
from neuron_compile.warm_start.stored_graph import StoredGraph


@functools.cache
def made_by_us() -> str:
    """A digest of our source and of the versions of the tools."""
    return hashlib.sha256(repr((loaded_tools(), own_source())).encode()).hexdigest()


def restore_with(compiler: Compiler, model: str, stored: StoredGraph) -> CompiledGraph | None:
    """The graph by `compiler`, for a model called `model`; None if another version stored it or the
    artifact cache does not have it."""
    if stored.made_by != made_by_us():
        return None
    graph = RestoredGraph(model, stored.role, stored.node_count)
    restored = compiler.restore(graph, stored.lowered, stored.signature)
    if restored is not None:
        settle_float64(graph, stored.demoted, compiler.options)
    return restored


def restore_alone(stored: StoredGraph) -> CompiledGraph | None:
    """The same where no `torch.compile` call says how: by the stored options and the environment.

    So it is where PyTorch loads what it compiled before without asking the backend
    (`TORCH_CACHING_PRECOMPILE`, `torch.compiler.load_compiled_function`).
    """
    from neuron_compile.assembly import assemble
    from neuron_compile.environment import check_environment
    from neuron_compile.options import CompileOptions
    from neuron_compile.settings import read_settings

    check_environment()
    settings = read_settings()
    options = CompileOptions.from_user(stored.options, settings)
    return restore_with(assemble(options, settings), stored.model, stored)
