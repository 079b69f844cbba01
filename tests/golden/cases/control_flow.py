"""Branches and loops stay what they are."""

from __future__ import annotations

from typing import Any

import torch
import torch._higher_order_ops
from torch import Tensor

from golden_case import golden

hop = torch.ops.higher_order


# CHECK: stablehlo.sine
# CHECK: stablehlo.cosine
# CHECK: func.func @main
# CHECK: call @lib_cond_{{.*}}(tensor<i1>, tensor<2x3xf32>) -> tensor<2x3xf32>
# CHECK: "stablehlo.if"
# CHECK: func.call @region_0
# CHECK: func.call @region_1
@golden(torch.ones(2, 3))
def branches(x: Tensor) -> Any:
    return hop.cond(x.sum() > 0, lambda x: (x.sin(),), lambda x: (x.cos(),), (x,))


# A thousand steps are one body.
# CHECK: stablehlo.sine
# CHECK-NOT: stablehlo.sine
# CHECK: stablehlo.while
# CHECK-NOT: stablehlo.while
@golden(torch.ones(2, 3))
def loop(x: Tensor) -> Any:
    step = torch.zeros((), dtype=torch.int64)
    return hop.while_loop(
        lambda step, x: step < 1000, lambda step, x: (step + 1, x.sin()), (step, x), ()
    )


# Slices are read and written in place, by a counter.
# CHECK: stablehlo.tanh
# CHECK-NOT: stablehlo.tanh
# CHECK: stablehlo.while
# CHECK: stablehlo.dynamic_slice
# CHECK: func.call @region_0
# CHECK: stablehlo.dynamic_update_slice
# CHECK-NOT: stablehlo.while
@golden(torch.ones(3), torch.ones(500, 3))
def scanned(start: Tensor, x: Tensor) -> Any:
    return hop.scan(lambda c, x: [(c + x).tanh(), c * x], [start], [x], ())
