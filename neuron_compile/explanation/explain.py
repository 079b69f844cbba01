"""The function behind `neuron_compile.explain` and `neuron-compile explain`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from neuron_compile.assembly import cache_for, runner_for
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.codegen.legality.device import device_of
from neuron_compile.environment import check_environment
from neuron_compile.explanation.capture import Capture, capture
from neuron_compile.explanation.findings import Explanation, GraphFindings
from neuron_compile.explanation.lower_fully import FullLowering, lower_fully
from neuron_compile.explanation.routes import bytes_of, operations_of
from neuron_compile.explanation.verdict import verdict_on
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.lowering.legalize.node_values import output_node, placeholders
from neuron_compile.lowering.legalize.strip_results import USER_RESULT_COUNT
from neuron_compile.options import CompileOptions
from neuron_compile.settings import read_settings
from neuron_compile.target import Target
from neuron_compile.workers.runner import ActionRunner


def explain(
    model: Callable[..., Any], *args: Any, for_target: str | None = None, **kwargs: Any
) -> Explanation:
    """What compiling `model(*args, **kwargs)` would meet, forward and backward.

    The model is called once in eager PyTorch; its graphs are lowered to StableHLO, and no code is
    generated, so no compiler of a device is needed. With a device as target (default: that of the
    environment) each program is held against what the device's compiler is documented to refuse.
    Forgets code that torch.compile made in this process. Raises `OptionsError` for an unknown
    target, `EnvironmentMismatchError`, and what the model raises.
    """
    check_environment()
    settings = read_settings()
    given = {} if for_target is None else {"target": for_target}
    options = CompileOptions.from_user(given, settings)
    captured = capture(model, args, kwargs, options)
    # Only its target enters what is done here.
    generator = HostCodeGenerator()
    runner = runner_for(options, generator, settings.debug_dir or cache_for(settings).directory)
    graphs = tuple(
        _graph(dataclasses.replace(graph, number=number), runner, options.compile_target)
        for number, graph in enumerate(captured.graphs)
    )
    return _totals(model, captured, options, graphs)


def _totals(
    model: Any, captured: Capture, options: CompileOptions, graphs: tuple[GraphFindings, ...]
) -> Explanation:
    is_module = isinstance(model, torch.nn.Module)
    parameters = list(model.parameters()) if is_module else []
    buffers = list(model.buffers()) if is_module else []
    return Explanation(
        model=type(model).__name__ if is_module else getattr(model, "__name__", "function"),
        target=options.target,
        parameter_count=sum(p.numel() for p in parameters),
        parameter_bytes=sum(p.numel() * p.element_size() for p in parameters),
        buffer_bytes=sum(b.numel() * b.element_size() for b in buffers),
        graphs=graphs,
        breaks=tuple(dict.fromkeys(captured.breaks)),
        problems=tuple(captured.problems),
    )


def _graph(graph: CapturedGraph, runner: ActionRunner, target: Target) -> GraphFindings:
    lowering = lower_fully(graph.module, runner, target)
    results = output_node(graph.module).args[0]
    assert isinstance(results, list | tuple)
    inputs = placeholders(graph.module)
    saved: list[Any] = []
    if graph.role is GraphRole.FORWARD:
        user_count = output_node(graph.module).meta[USER_RESULT_COUNT]
        saved = [node for node in results[user_count:] if node not in inputs]
    stablehlo = lowering.blobs["stablehlo"] if lowering.blobs else b""
    origins = lowering.imported.origins if lowering.imported else ()
    is_assessed = target.is_device and stablehlo
    return GraphFindings(
        name=graph.name,
        role=graph.role.value,
        operations=operations_of(graph.module, lowering),
        failures=lowering.failures,
        problem=lowering.problem,
        demoted=_demoted(lowering),
        input_bytes=bytes_of(inputs),
        output_bytes=bytes_of(results),
        saved_bytes=bytes_of(saved),
        stablehlo_bytes=len(stablehlo),
        verdict=verdict_on(stablehlo, device_of(target.name), origins) if is_assessed else None,
    )


def _demoted(lowering: FullLowering) -> tuple[str, ...]:
    found = lowering.imported.demoted if lowering.imported else ()
    return tuple(f"{origin.operator}   {origin.source or ''}".rstrip() for origin in found)
