"""The sample inputs of an entry, each as a pure function of a flat list of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from torch.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_map, tree_unflatten

from ops.entries import has_gradient

SAMPLE_LIMIT: Final = 40
_WIDER: Final = {
    torch.bfloat16: torch.float64,
    torch.float16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
    torch.complex32: torch.complex128,
}


@dataclass(frozen=True)
class Sample:
    """One call of an operator.

    `index` counts the entry's samples; `leaves` are the flattened arguments, tensors included;
    `process` is the entry's own treatment of a result before it is differentiated, which takes away
    what is not unique (the sign of a singular vector).
    """

    index: int
    function: Callable[..., Any]
    leaves: tuple[Any, ...]
    structure: TreeSpec
    process: Callable[..., Any]

    def tensors(self) -> list[Tensor]:
        """Fresh copies of the tensor arguments, strides and shared objects kept."""
        memo: dict[int, Tensor] = {}
        for leaf in self.leaves:
            if isinstance(leaf, Tensor) and id(leaf) not in memo:
                memo[id(leaf)] = _copy(leaf)
        return [memo[id(leaf)] for leaf in self.leaves if isinstance(leaf, Tensor)]

    def call(self, tensors: Sequence[Tensor]) -> Any:
        """The operator's result on these tensors in the place of the sample's own."""
        rest = iter(tensors)
        filled = [next(rest) if isinstance(leaf, Tensor) else leaf for leaf in self.leaves]
        args, kwargs = tree_unflatten(filled, self.structure)
        return self.function(*args, **kwargs)

    def widened(self) -> Sample:
        """The same call in float64, for a reference nearer to the truth."""
        leaves = tuple(_widen(leaf) for leaf in self.leaves)
        return Sample(self.index, self.function, leaves, self.structure, self.process)


def samples_of(op: Any, dtype: torch.dtype, limit: int = SAMPLE_LIMIT) -> list[Sample]:
    """The entry's samples, at most `limit`, spread evenly over all of them."""
    torch.manual_seed(0)
    found = list(op.sample_inputs("cpu", dtype, requires_grad=has_gradient(op, dtype)))
    chosen = range(len(found))
    if len(found) > limit:
        chosen = sorted({round(i * (len(found) - 1) / (limit - 1)) for i in range(limit)})  # type: ignore[assignment]
    return [_sample(op, index, found[index]) for index in chosen]


def _sample(op: Any, index: int, sample: Any) -> Sample:
    leaves, structure = tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
    return Sample(index, op.op, tuple(leaves), structure, sample.output_process_fn_grad)


def is_differentiable(value: Any) -> bool:
    """Whether a gradient can flow to or from it."""
    return isinstance(value, Tensor) and value.requires_grad


def result_tensors(result: Any) -> list[Tensor]:
    """The tensors of a result, in order."""
    return [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]


def detached(result: Any) -> Any:
    """The result with its tensors cut off the tape and copied."""
    return tree_map(lambda x: x.detach().clone() if isinstance(x, Tensor) else x, result)


def _copy(tensor: Tensor) -> Tensor:
    plain = tensor.detach()
    if plain.layout is not torch.strided or plain.is_conj() or plain.is_neg():
        copied = plain.clone()
    else:
        copied = torch.empty(0, dtype=plain.dtype)
        storage = plain.untyped_storage().clone()
        copied.set_(storage, plain.storage_offset(), plain.shape, plain.stride())
    return copied.requires_grad_(tensor.requires_grad)


def _widen(leaf: Any) -> Any:
    if isinstance(leaf, torch.dtype):
        return _WIDER.get(leaf, leaf)
    if isinstance(leaf, Tensor) and leaf.dtype in _WIDER:
        return leaf.detach().to(_WIDER[leaf.dtype]).requires_grad_(leaf.requires_grad)
    return leaf
