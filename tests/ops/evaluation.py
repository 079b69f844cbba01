"""What a group of samples gives, eagerly or compiled: results, gradients, or an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from neuron_compile.aot import compile_with_autograd
from neuron_compile.cache import ActionResult
from neuron_compile.cache.result import Outcome as CacheOutcome
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.compiler import Compiler
from neuron_compile.lowering.decompose.known_sizes import register_known_sizes
from neuron_compile.observe import Observers
from neuron_compile.options import CompileOptions
from ops.samples import Sample, detached, is_differentiable, result_tensors


@dataclass
class Evaluation:
    """Of one sample: the result, the result as the entry processes it before differentiation, and
    the gradient of each tensor argument that asks for one; `gradients` is None where nothing can be
    differentiated."""

    result: Any
    processed: Any
    gradients: list[Tensor | None] | None


class Group(nn.Module):
    """The calls of many samples as one module from a flat list of tensors to one of tensors.

    A result that is a view of an argument is copied, or else AOTAutograd would take it out of the
    graph.
    """

    def __init__(self, samples: Sequence[Sample], counts: Sequence[int]) -> None:
        super().__init__()
        self.samples = samples
        self.counts = counts
        self.structures: list[tuple[TreeSpec, list[Any]]] = []

    def forward(self, *tensors: Tensor) -> list[Tensor]:
        self.structures.clear()
        results: list[Tensor] = []
        rest = list(tensors)
        for sample, count in zip(self.samples, self.counts, strict=True):
            own, rest = rest[:count], rest[count:]
            leaves, structure = tree_flatten(sample.call(own))
            leaves = [_own_memory(leaf, own) for leaf in leaves]
            self.structures.append((structure, leaves))
            results += [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        return results

    def unflatten(self, tensors: Sequence[Tensor]) -> list[Any]:
        """Each sample's result from the flat list that `forward` or its compiled form returned."""
        rest = iter(tensors)
        return [
            tree_unflatten(
                [next(rest) if isinstance(leaf, Tensor) else leaf for leaf in leaves], structure
            )
            for structure, leaves in self.structures
        ]


def evaluate_eagerly(sample: Sample) -> Evaluation:
    """Results and gradients of one sample in eager. Raises what eager raises."""
    tensors = sample.tensors()
    group = Group([sample], [len(tensors)])
    (result,) = group.unflatten(group(*tensors))
    return _differentiate(sample, tensors, result)


def evaluate_compiled(samples: Sequence[Sample], *, backward: bool = True) -> list[Evaluation]:
    """Results and gradients of many samples compiled as one graph. Raises our errors.

    This is the backend as users have it, but for Dynamo, the cache and the report; random
    operators, partitioning and decompositions included.
    """
    register_known_sizes()
    arguments = [sample.tensors() for sample in samples]
    flat = [tensor for own in arguments for tensor in own]
    group = Group(samples, [len(own) for own in arguments])
    if not backward:
        flat = [tensor.detach() for tensor in flat]
        arguments = [[tensor.detach() for tensor in own] for own in arguments]
    compiled = compile_with_autograd(group, flat, _compiler())  # type: ignore[arg-type]
    results = group.unflatten(compiled(*flat))
    if not backward:
        return [Evaluation(detached(result), result, None) for result in results]
    return _differentiate_all(samples, arguments, results)


def _differentiate(sample: Sample, tensors: Sequence[Tensor], result: Any) -> Evaluation:
    (evaluation,) = _differentiate_all([sample], [list(tensors)], [result])
    return evaluation


def _differentiate_all(
    samples: Sequence[Sample], arguments: Sequence[list[Tensor]], results: Sequence[Any]
) -> list[Evaluation]:
    processed = [sample.process(r) for sample, r in zip(samples, results, strict=True)]
    roots = [root for p in processed for root in result_tensors(p) if is_differentiable(root)]
    wanted = [tensor for own in arguments for tensor in own if tensor.requires_grad]
    found: dict[int, Tensor | None] = {}
    if roots and wanted:
        cotangents = [_cotangent(root) for root in roots]
        gradients = torch.autograd.grad(roots, wanted, cotangents, allow_unused=True)
        found = {id(tensor): grad for tensor, grad in zip(wanted, gradients, strict=True)}
    return [
        Evaluation(
            detached(result),
            detached(mine),
            [found.get(id(tensor)) for tensor in own if tensor.requires_grad]
            if any(is_differentiable(root) for root in result_tensors(mine))
            else None,
        )
        for own, result, mine in zip(arguments, results, processed, strict=True)
    ]


def _cotangent(root: Tensor) -> Tensor:
    """Numbers of both signs and unlike sizes, the same for every tensor of this shape and dtype."""
    count = root.numel()
    ramp = torch.cos(torch.arange(count, dtype=torch.float64) * math.sqrt(2.0)) + 0.25
    if root.dtype.is_complex:
        ramp = torch.complex(ramp, torch.flip(ramp, (0,)))
    return ramp.reshape(root.shape).to(root.dtype)


def _own_memory(leaf: Any, arguments: Sequence[Tensor]) -> Any:
    if not isinstance(leaf, Tensor) or leaf.layout is not torch.strided:
        return leaf
    shared = any(leaf is tensor or leaf._base is tensor for tensor in arguments)
    shared = shared or leaf._is_view()
    return leaf.clone() if shared else leaf


class _NoCache:
    """In the place of an `ActionCache`: every action is carried out, nothing is kept."""

    def get_or_produce(
        self, key: Any, produce: Callable[[], Any], *, what: str = ""
    ) -> ActionResult:
        return ActionResult(produce(), CacheOutcome.UNCACHED, 0.0, 0.0)


def _compiler() -> Compiler:
    options = CompileOptions(optimization_level=1, model_name="samples")
    generator = HostCodeGenerator(optimization_level=1)
    return Compiler(options, generator, _NoCache(), Observers())  # type: ignore[arg-type]
