"""A captured graph as a callable that eager PyTorch carries out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._ops import OpOverload
from torch.fx import GraphModule, Interpreter

from neuron_compile.lowering.random_ops import NAMESPACE
from neuron_compile.warmup.eager_operators import eager_operator


class EagerGraph:
    """Runs a graph node by node, under AOTAutograd's boxed calling convention."""

    def __init__(self, module: GraphModule) -> None:
        # On the instance: torch.compile wraps callables and copies their __dict__.
        self._boxed_call = True
        self._module = module

    def __call__(self, args: list[Any]) -> Sequence[Any]:
        """The graph's results. Empties `args`."""
        arguments = list(args)
        args.clear()
        with torch.no_grad():
            results: Sequence[Any] = _WithSeeds(self._module).run(*arguments)
        return results


class _WithSeeds(Interpreter):
    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(target, OpOverload) and target.namespace == NAMESPACE:
            name = target._schema.name.partition("::")[2]
            function: Callable[..., Any] = eager_operator(name)
            return function(*args, **kwargs)
        return super().call_function(target, args, kwargs)
