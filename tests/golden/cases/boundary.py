"""What programs take and give."""

from __future__ import annotations

import torch
from torch import Tensor

from golden_case import golden


# A transposed argument enters as its memory is and is transposed inside.
# CHECK: func.func @main(%[[X:arg0]]: tensor<3x2xf32>) -> tensor<2x3xf32>
# CHECK: stablehlo.transpose %[[X]], dims = [1, 0]
# CHECK-NOT: transpose
@golden(torch.ones(3, 2).t())
def transposed_argument(x: Tensor) -> Tensor:
    return torch.add(x, 1.0).contiguous()


# An expanded result leaves once, in the order of its memory.
# CHECK: func.func @main(%arg0: tensor<3x1xf32>) -> tensor<3x1xf32>
@golden(torch.ones(3, 1))
def expanded_result(x: Tensor) -> Tensor:
    return (x * 2).t().expand(4, 3)


# An argument that is not used is not taken, and one that is returned is not given.
# CHECK: func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32>
@golden(torch.ones(2), torch.ones(5), torch.ones(7))
def unused_and_returned(x: Tensor, _unused: Tensor, returned: Tensor) -> list[Tensor]:
    return [x + 1, returned]


# float64 computes in float32.
# CHECK: func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32>
# CHECK-NOT: tensor<2xf64>
# CHECK: stablehlo.sine %arg0 : tensor<2xf32>
# CHECK-NOT: tensor<2xf64>
@golden(torch.ones(2, dtype=torch.float64))
def float64(x: Tensor) -> Tensor:
    return x.sin() * 0.5
