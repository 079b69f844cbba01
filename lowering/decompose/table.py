"""Which operators are rewritten into others while AOTAutograd traces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import torch
from torch._decomp import core_aten_decompositions, get_decompositions

from neuron_compile.lowering.decompose import statistics
from neuron_compile.lowering.decompose.elementwise import signbit
from neuron_compile.lowering.decompose.flex_attention import zeros_and_scatter
from neuron_compile.lowering.decompose.foreach import foreach_decompositions
from neuron_compile.lowering.decompose.fused_optimizers import (
    fused_optimizer_decompositions,
)
from neuron_compile.lowering.decompose.linear_cross_entropy import (
    linear_cross_entropy_decompositions,
)
from neuron_compile.lowering.decompose.low_precision import rounded_once
from neuron_compile.lowering.decompose.randomized import rrelu_with_noise_functional
from neuron_compile.lowering.decompose.ranges import linspace_decompositions
from neuron_compile.lowering.decompose.squeezes import squeeze, squeeze_dim
from neuron_compile.lowering.decompose.weight_norm import weight_norm_interface_backward
from neuron_compile.lowering.decompose.whole_operators import is_resampling

_aten = torch.ops.aten

# Decomposed by PyTorch, but left whole here because a later stage does better with the whole.
_KEPT: Final = frozenset(
    {
        # Random operators become functions of a seed in the joint graph.
        _aten.bernoulli.default,
        _aten.bernoulli.p,
        _aten.exponential.default,
        _aten.geometric.default,
        _aten.cauchy.default,
        _aten.log_normal.default,
        _aten.uniform.default,
        _aten.normal_functional.default,
        # Its rule makes a primitive of it whose result is a view: graphs of control flow, which are
        # traced twice, may hold none.
        _aten.squeeze.dims,
        # Its rule makes a sum of products, which rounds more often than a product of matrices does.
        _aten.mv.default,
        # Its rule reads a 0-d index as a Python number.
        _aten.take.default,
        _aten.put.default,
        # Its rule computes in float64, which the user would be warned of.
        _aten.logspace.default,
    }
)

# Decomposed by PyTorch outside its core set.
_ADDED: Final = (
    _aten._native_batch_norm_legit.default,
    _aten._native_batch_norm_legit.no_stats,
    _aten._native_batch_norm_legit_functional.default,
    _aten._native_batch_norm_legit_no_training.default,
    _aten.native_batch_norm.default,
    _aten.native_dropout.default,
    _aten.native_group_norm.default,
    _aten.native_layer_norm.default,
    _aten._log_softmax.default,
    _aten._softmax.default,
    _aten.addmm.default,
    _aten.grid_sampler_2d.default,
    _aten.logsumexp.default,
    _aten._addmm_activation.default,
    _aten._batch_norm_no_update.default,
    _aten._batch_norm_with_update_functional.default,
    _aten._fused_dropout.default,
    _aten.addmm.dtype,
    _aten.addmv.default,
    _aten.alpha_dropout.default,
    _aten.as_strided_copy.default,
    _aten.batch_norm_backward.default,
    _aten.bitwise_and.Scalar_Tensor,
    _aten.bitwise_or.Scalar_Tensor,
    _aten.bitwise_xor.Scalar_Tensor,
    _aten.dist.default,
    _aten.dropout.default,
    _aten.native_dropout.default,
    _aten.ldexp.Tensor,
    # As Torch-MLIR writes it, -0.0 becomes 0.0.
    _aten.leaky_relu.default,
    _aten.narrow_copy.default,
    _aten.rrelu_with_noise_backward.default,
)


def _multiply_add(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return a * b + c


def decomposition_table() -> dict[Any, Callable[..., Any]]:
    """PyTorch's core ATen decompositions, less those kept, plus ours."""
    table = _own_table()
    # Exists once Inductor has been imported, by whatever needs it.
    if hasattr(torch.ops.prims, "fma"):
        table = table | {torch.ops.prims.fma.default: _multiply_add}
    return table


@functools.cache
def _own_table() -> dict[Any, Callable[..., Any]]:
    table = dict(core_aten_decompositions().items())
    table |= get_decompositions(_ADDED)
    table |= foreach_decompositions()
    table |= rounded_once()
    statistics.register()
    table |= fused_optimizer_decompositions()
    table |= linear_cross_entropy_decompositions()
    table |= linspace_decompositions()
    table[_aten._weight_norm_interface_backward.default] = weight_norm_interface_backward
    table[_aten.rrelu_with_noise_functional.default] = rrelu_with_noise_functional
    table[_aten.signbit.default] = signbit
    table |= {_aten.squeeze.default: squeeze, _aten.squeeze.dim: squeeze_dim}
    table[torch.ops.flex_lib.zeros_and_scatter.default] = zeros_and_scatter
    return {op: rule for op, rule in table.items() if op not in _KEPT and not is_resampling(op)}
