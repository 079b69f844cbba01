"""Random operators as pure functions of a seed.

ATen's random operators read and advance a generator, which a compiled program cannot do. These take
a seed (int64, shape [1]), drawn by the runtime from PyTorch's generator once a call, and a `site`
number that tells the places of one graph apart: equal seed and site give equal numbers, so
the backward pass and recomputation under checkpointing see what the forward pass saw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import torch

NAMESPACE: Final = "neuron_compile"

_DEFINITIONS: Final = (
    "uniform(Tensor seed, int site, SymInt[] shape, float low, float high, ScalarType dtype)",
    "normal(Tensor seed, int site, SymInt[] shape, float mean, float std, ScalarType dtype)",
    "randint(Tensor seed, int site, SymInt[] shape, int low, int high, ScalarType dtype)",
    "exponential(Tensor seed, int site, SymInt[] shape, float rate, ScalarType dtype)",
    "geometric(Tensor seed, int site, SymInt[] shape, float p, ScalarType dtype)",
    "cauchy(Tensor seed, int site, SymInt[] shape, float median, float sigma, ScalarType dtype)",
    "log_normal(Tensor seed, int site, SymInt[] shape, float mean, float std, ScalarType dtype)",
)
_TENSOR_DEFINITIONS: Final = (
    "bernoulli(Tensor seed, int site, Tensor probs, SymInt[] shape, ScalarType dtype)",
    "scaled_normal(Tensor seed, int site, Tensor std, SymInt[] shape, ScalarType dtype)",
)
_PARAMETRIC_DEFINITIONS: Final = (
    "poisson(Tensor seed, int site, Tensor rates)",
    "binomial(Tensor seed, int site, Tensor count, Tensor prob)",
    "gamma(Tensor seed, int site, Tensor alpha)",
    "dirichlet(Tensor seed, int site, Tensor alpha)",
)

_library = torch.library.Library(NAMESPACE, "DEF")


def _shaped(seed: torch.Tensor, site: int, shape: Sequence[int], *parameters: Any) -> torch.Tensor:
    return seed.new_empty(shape, dtype=parameters[-1])


def _shaped_as_told(
    seed: torch.Tensor, site: int, parameter: torch.Tensor, shape: Sequence[int], dtype: torch.dtype
) -> torch.Tensor:
    return seed.new_empty(shape, dtype=dtype)


def _like_first(seed: torch.Tensor, site: int, parameter: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(parameter, memory_format=torch.contiguous_format)


def _permutation(seed: torch.Tensor, site: int, n: int, dtype: torch.dtype) -> torch.Tensor:
    return seed.new_empty((n,), dtype=dtype)


def _multinomial(
    seed: torch.Tensor, site: int, probs: torch.Tensor, num_samples: int, replacement: bool
) -> torch.Tensor:
    return seed.new_empty((*probs.shape[:-1], num_samples))


def _define() -> None:
    # The tag keeps AOTAutograd from merging or recomputing draws.
    _library.define("draw_seed() -> Tensor", tags=(torch.Tag.nondeterministic_seeded,))
    torch.library.register_fake(
        f"{NAMESPACE}::draw_seed", lambda: torch.empty((1,), dtype=torch.int64), lib=_library
    )
    shapes: dict[str, Callable[..., torch.Tensor]] = dict.fromkeys(_DEFINITIONS, _shaped)
    shapes |= dict.fromkeys(_TENSOR_DEFINITIONS, _shaped_as_told)
    shapes |= dict.fromkeys(_PARAMETRIC_DEFINITIONS, _like_first)
    shapes["randperm(Tensor seed, int site, SymInt n, ScalarType dtype)"] = _permutation
    shapes[
        "multinomial(Tensor seed, int site, Tensor probs, SymInt num_samples, bool replacement)"
    ] = _multinomial
    for definition, shape in shapes.items():
        _library.define(f"{definition} -> Tensor", tags=(torch.Tag.pt2_compliant_tag,))
        name = definition.partition("(")[0]
        torch.library.register_fake(f"{NAMESPACE}::{name}", shape, lib=_library)


_define()
