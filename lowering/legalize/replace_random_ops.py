"""Replace ATen's random operators by pure functions of a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch.fx import GraphModule, Node
from torch.utils.checkpoint import CheckpointPolicy

from neuron_compile.lowering import random_ops
from neuron_compile.lowering.legalize.node_values import call, calls, inherit_source, value

_aten = torch.ops.aten
_random = getattr(torch.ops, random_ops.NAMESPACE)

# Where ATen draws integers without an upper bound, they are those that the type represents exactly.
_EXACT_INTEGER_BITS: Final = {
    torch.float64: 53,
    torch.float32: 24,
    torch.float16: 11,
    torch.bfloat16: 8,
}


def replace_random_ops(module: GraphModule) -> bool:
    """Make the graph deterministic but for one `draw_seed` call; tell whether it was random.

    Runs on the joint graph, so that the partitioner can save the seed for the backward graph and
    recompute random numbers there instead of saving them.
    """
    nodes = [node for node in module.graph.nodes if node.target in _REWRITES]
    if not nodes:
        return False
    writer = _Writer(module, drawn_seed(module))
    for site, node in enumerate(nodes):
        with module.graph.inserting_before(node):
            writer.begin(node, site)
            replacement = _REWRITES[node.target](writer, *node.args, **node.kwargs)
        replacement.meta["val"] = value(node)
        node.replace_all_uses_with(replacement)
        module.graph.erase_node(node)
    module.recompile()
    return True


def drawn_seed(module: GraphModule) -> Node:
    """The graph's draw of a seed; it gets one if it has none."""
    drawn = next(calls(module, _random.draw_seed.default), None)
    if drawn is not None:
        return drawn
    first = next(node for node in module.graph.nodes if node.op != "placeholder")
    with module.graph.inserting_before(first):
        seed = call(module, first, _random.draw_seed.default)
    for field_name in ("stack_trace", "nn_module_stack", "recompute", "partitioner_tag"):
        seed.meta.pop(field_name, None)
    # Drawing again in the backward pass would give other numbers.
    seed.meta["recompute"] = CheckpointPolicy.MUST_SAVE
    return seed


@dataclass
class _Writer:
    """Writes the calls that stand in for one node."""

    module: GraphModule
    seed: Node
    node: Node = field(init=False)
    site: int = field(init=False)

    def begin(self, node: Node, site: int) -> None:
        self.node, self.site = node, site

    def call(self, target: Callable[..., Any], *args: Any, **kwargs: Any) -> Node:
        node = call(self.module, self.node, target, *args, **kwargs)
        inherit_source(node, self.node)
        for name in ("recompute", "partitioner_tag", "ac_graph_id"):
            if name in self.node.meta:
                node.meta[name] = self.node.meta[name]
        return node

    @property
    def shape(self) -> list[Any]:
        return list(value(self.node).shape)

    @property
    def dtype(self) -> torch.dtype:
        result: torch.dtype = value(self.node).dtype
        return result

    def draw(self, name: str, *parameters: Any) -> Node:
        """A call that takes shape, numbers and dtype."""
        target = getattr(_random, name).default
        return self.call(target, self.seed, self.site, self.shape, *parameters, self.dtype)

    def sample(self, name: str, *parameters: Any) -> Node:
        """A call whose parameters are tensors."""
        return self.call(getattr(_random, name).default, self.seed, self.site, *parameters)


def _uniform(writer: _Writer, *_: Any, **__: Any) -> Node:
    return writer.draw("uniform", 0.0, 1.0)


def _standard_normal(writer: _Writer, *_: Any, **__: Any) -> Node:
    return writer.draw("normal", 0.0, 1.0)


def _randint(writer: _Writer, high: int, *_: Any, **__: Any) -> Node:
    return writer.draw("randint", 0, high)


def _randint_low(writer: _Writer, low: int, high: int, *_: Any, **__: Any) -> Node:
    return writer.draw("randint", low, high)


def _randint_like(writer: _Writer, _: Node, high: int, **__: Any) -> Node:
    return writer.draw("randint", 0, high)


def _randint_like_low(writer: _Writer, _: Node, low: int, high: int, **__: Any) -> Node:
    return writer.draw("randint", low, high)


def _random_from(writer: _Writer, _: Node, low: int, high: int | None, **__: Any) -> Node:
    return writer.draw("randint", low, _top(writer.dtype) if high is None else high)


def _random_to(writer: _Writer, _: Node, high: int, **__: Any) -> Node:
    return writer.draw("randint", 0, high)


def _random_any(writer: _Writer, _: Node, **__: Any) -> Node:
    return writer.draw("randint", 0, _top(writer.dtype))


def _top(dtype: torch.dtype) -> int:
    if dtype in _EXACT_INTEGER_BITS:
        return (1 << _EXACT_INTEGER_BITS[dtype]) + 1
    return 2 if dtype is torch.bool else min(torch.iinfo(dtype).max, (1 << 63) - 2) + 1


def _randperm(writer: _Writer, n: int, **_: Any) -> Node:
    return writer.call(_random.randperm.default, writer.seed, writer.site, n, writer.dtype)


def _bernoulli(writer: _Writer, probabilities: Node, **_: Any) -> Node:
    return _below(writer, probabilities)


def _bernoulli_p(writer: _Writer, _: Node, p: float = 0.5, **__: Any) -> Node:
    return _below(writer, p)


def _bernoulli_tensor(writer: _Writer, _: Node, p: Node, **__: Any) -> Node:
    return _below(writer, p)


def _below(writer: _Writer, threshold: Any) -> Node:
    """1 where a uniform number lies below the threshold, else 0, in the node's dtype."""
    if isinstance(threshold, Node):
        return writer.sample("bernoulli", threshold, writer.shape, writer.dtype)
    target = _random.uniform.default
    draws = writer.call(target, writer.seed, writer.site, writer.shape, 0.0, 1.0, torch.float32)
    below = writer.call(_aten.lt.Scalar, draws, threshold)
    return writer.call(_aten._to_copy.default, below, dtype=writer.dtype)


def _normal(writer: _Writer, mean: Any, std: Any = 1.0, *_: Any, **__: Any) -> Node:
    """Mean and deviation are numbers or tensors, in any combination."""
    if not isinstance(mean, Node) and not isinstance(std, Node):
        return writer.draw("normal", float(mean), float(std))
    if not isinstance(std, Node):
        scaled = writer.draw("normal", 0.0, float(std))
    else:
        scaled = writer.sample("scaled_normal", std, writer.shape, writer.dtype)
    return writer.call(_aten.add.Tensor, scaled, mean)


def _in_place(name: str, *defaults: float) -> Callable[..., Node]:
    """The functional form of a fill such as `exponential_`: tensor, then numbers."""

    def rewrite(writer: _Writer, _: Node, *numbers: float, **named: Any) -> Node:
        named.pop("generator", None)
        given = [*numbers, *named.values()]
        parameters = [*given, *defaults[len(given) :]]
        return writer.draw(name, *(float(number) for number in parameters))

    return rewrite


def _sampled(name: str) -> Callable[..., Node]:
    def rewrite(writer: _Writer, *parameters: Node, **_: Any) -> Node:
        return writer.sample(name, *parameters)

    return rewrite


def _multinomial(
    writer: _Writer, probs: Node, num_samples: int, replacement: bool = False, **_: Any
) -> Node:
    return writer.sample("multinomial", probs, num_samples, replacement)


_REWRITES: Final[dict[Any, Callable[..., Node]]] = {
    _aten.rand.default: _uniform,
    _aten.rand_like.default: _uniform,
    _aten.randn.default: _standard_normal,
    _aten.randn_like.default: _standard_normal,
    _aten.randint.default: _randint,
    _aten.randint.low: _randint_low,
    _aten.randint_like.default: _randint_like,
    _aten.randint_like.low_dtype: _randint_like_low,
    _aten.random.default: _random_any,
    _aten.random.to: _random_to,
    getattr(_aten.random, "from"): _random_from,
    _aten.randperm.default: _randperm,
    _aten.bernoulli.default: _bernoulli,
    _aten.bernoulli.p: _bernoulli_p,
    _aten.bernoulli.Tensor: _bernoulli_tensor,
    _aten.normal.Tensor_float: _normal,
    _aten.normal.float_Tensor: _normal,
    _aten.normal.Tensor_Tensor: _normal,
    _aten.normal.float_float: _normal,
    _aten.normal_functional.default: _in_place("normal", 0.0, 1.0),
    _aten.uniform.default: _in_place("uniform", 0.0, 1.0),
    _aten.exponential.default: _in_place("exponential", 1.0),
    _aten.geometric.default: _in_place("geometric"),
    _aten.cauchy.default: _in_place("cauchy", 0.0, 1.0),
    _aten.log_normal.default: _in_place("log_normal", 1.0, 2.0),
    _aten.poisson.default: _sampled("poisson"),
    _aten.binomial.default: _sampled("binomial"),
    _aten._standard_gamma.default: _sampled("gamma"),
    _aten._sample_dirichlet.default: _sampled("dirichlet"),
    _aten.multinomial.default: _multinomial,
}
