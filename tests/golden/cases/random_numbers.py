"""Random numbers are functions of one seed."""

from __future__ import annotations

import torch
from torch import Tensor

from golden_case import golden


# The seed is the last argument, whatever is drawn.
# CHECK: func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<1xi64>) -> tensor<4xf32>
# CHECK-NOT: stablehlo.custom_call
@golden(torch.ones(4))
def draws(x: Tensor) -> Tensor:
    return torch.rand_like(x) * x + torch.randn_like(x)


# Two draws of one kind have places of their own.
# CHECK: seed
# CHECK: torch.ops.neuron_compile.uniform.default(seed, 0,
# CHECK: torch.ops.neuron_compile.uniform.default(seed, 1,
# CHECK-NOT: aten.rand
@golden(torch.ones(4), stage="fx")
def two_draws(x: Tensor) -> Tensor:
    return torch.rand_like(x) + torch.rand_like(x)
