"""Random operators of a seed, in eager PyTorch: so that a graph can run before it is compiled.

Distributions are right and one seed gives the same numbers forward and backward; they are not the
numbers of the compiled graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import Tensor

Fill = Callable[..., Tensor]


def eager_random(name: str) -> Fill:
    """What computes the operator `name` of our namespace. Raises `KeyError` for others."""
    return _OPERATORS[name]


def _generator(seed: Tensor, site: int) -> torch.Generator:
    return torch.Generator().manual_seed((int(seed) + 1_000_003 * site) % (1 << 63))


def _filled(method: str) -> Fill:
    def fill(seed: Tensor, site: int, shape: list[int], *parameters: Any) -> Tensor:
        *numbers, dtype = parameters
        result = torch.empty(shape, dtype=dtype)
        filled: Tensor = getattr(result, method)(*numbers, generator=_generator(seed, site))
        return filled

    return fill


def _draw_seed() -> Tensor:
    return torch.randint(-(1 << 63), (1 << 63) - 1, (1,))


def _permutation(seed: Tensor, site: int, n: int, dtype: torch.dtype) -> Tensor:
    return torch.randperm(n, generator=_generator(seed, site), dtype=dtype)


def _multinomial(seed: Tensor, site: int, probs: Tensor, count: int, replacement: bool) -> Tensor:
    return torch.multinomial(probs, count, replacement, generator=_generator(seed, site))


def _bernoulli(
    seed: Tensor, site: int, probs: Tensor, shape: list[int], dtype: torch.dtype
) -> Tensor:
    exact = torch.float64 if probs.dtype == torch.float64 else torch.float32
    each = probs.to(exact).expand(shape)
    return torch.bernoulli(each, generator=_generator(seed, site)).to(dtype)


def _scaled_normal(
    seed: Tensor, site: int, std: Tensor, shape: list[int], dtype: torch.dtype
) -> Tensor:
    mean = torch.zeros(shape, dtype=dtype)
    return torch.normal(mean, std.expand(shape), generator=_generator(seed, site))


def _sampled(sample: Callable[..., Tensor]) -> Fill:
    def draw(seed: Tensor, site: int, *parameters: Tensor) -> Tensor:
        dense = [parameter.contiguous() for parameter in parameters]
        return sample(*dense, generator=_generator(seed, site))

    return draw


_OPERATORS: Final[dict[str, Fill]] = {
    "draw_seed": _draw_seed,
    "uniform": _filled("uniform_"),
    "normal": _filled("normal_"),
    "randint": _filled("random_"),
    "exponential": _filled("exponential_"),
    "geometric": _filled("geometric_"),
    "cauchy": _filled("cauchy_"),
    "log_normal": _filled("log_normal_"),
    "randperm": _permutation,
    "multinomial": _multinomial,
    "bernoulli": _bernoulli,
    "scaled_normal": _scaled_normal,
    "poisson": _sampled(torch.poisson),
    "binomial": _sampled(torch.binomial),
    "gamma": _sampled(torch._standard_gamma),
    "dirichlet": _sampled(torch._sample_dirichlet),
}
