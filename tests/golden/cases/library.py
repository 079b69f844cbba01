"""Operations of the function library are linked in and leave no call of something unknown."""

from __future__ import annotations

import torch
from torch import Tensor

from golden_case import golden


# CHECK: stablehlo.custom_call @[[NAME:[A-Za-z0-9_.]+]]
# CHECK-NOT: torch.aten.sort
@golden(torch.ones(4), stage="torch")
def sort_is_called(x: Tensor) -> list[Tensor]:
    return list(torch.sort(x))


# CHECK: func.func @main
# CHECK: call @[[NAME:[a-z0-9_]+]](
# CHECK: func.func private @[[NAME]](
# CHECK: "stablehlo.sort"
# CHECK-NOT: stablehlo.custom_call
@golden(torch.ones(4))
def sort_is_linked(x: Tensor) -> list[Tensor]:
    return list(torch.sort(x))


# Torch-MLIR truncates; the sign of a remainder is the divisor's.
# CHECK: stablehlo.remainder
# CHECK: stablehlo.select
@golden(torch.ones(3), torch.ones(3))
def remainder(x: Tensor, y: Tensor) -> Tensor:
    return torch.remainder(x, y)


# What Torch-MLIR does well stays with it.
# CHECK: torch.aten.mm
# CHECK-NOT: custom_call
@golden(torch.ones(20, 30), torch.ones(30, 20), stage="torch")
def product(x: Tensor, y: Tensor) -> Tensor:
    return x @ y
