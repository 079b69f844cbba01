"""Forms that Torch-MLIR would get wrong, or die of, never reach it."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor

from golden_case import golden


# "To the end" is the size, not 2**63 - 1.
# CHECK: aten.slice_scatter.default({{.*}}, 1, 3, 6, 1)
# CHECK-NOT: 9223372036854775807
@golden(torch.ones(2, 6), torch.ones(2, 3), stage="fx")
def slice_to_the_end(x: Tensor, source: Tensor) -> Any:
    return torch.ops.aten.slice_scatter(x, source, 1, 3, sys.maxsize)


# CHECK-LABEL: def forward
# CHECK-NOT: detach
# CHECK-NOT: alias
# CHECK: aten.sin.default
@golden(torch.ones(2), stage="fx")
def passing_on(x: Tensor) -> Any:
    return torch.ops.aten.alias(x.detach()).sin()


# Constants are in the text, so that they are in the key.
# CHECK: dense<[1.000000e+00, 2.500000e+00, -3.000000e+00]>
# CHECK-NOT: dense_resource
@golden(torch.ones(3), stage="torch")
def constant(x: Tensor) -> Tensor:
    return x + torch.tensor([1.0, 2.5, -3.0])


# Locations are numbers of nodes.
# CHECK: loc("n1")
# CHECK-NOT: .py
@golden(torch.ones(3), stage="torch")
def locations(x: Tensor) -> Tensor:
    return x.sin()
