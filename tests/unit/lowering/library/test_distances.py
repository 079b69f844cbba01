from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check

LEFT = torch.randn(2, 4, 3, generator=torch.Generator().manual_seed(0))
RIGHT = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_distances_and_gradients(p: float) -> None:
    right = RIGHT.clone()
    right[:, 0] = LEFT[:, 0]
    check("aten._cdist_forward.default", LEFT, right, p, 2)
    distance = torch.cdist(LEFT, right, p, compute_mode="donot_use_mm_for_euclid_dist")
    check("aten._cdist_backward.default", torch.randn(2, 4, 5), LEFT, right, p, distance)
    rows = torch.cat([LEFT[0], LEFT[0, :1]])
    check("aten._pdist_forward.default", rows, p)
    check("aten._pdist_backward.default", torch.randn(10), rows, p, torch.pdist(rows, p))


def test_distances_of_nothing() -> None:
    check("aten._cdist_forward.default", torch.empty(2, 0), torch.empty(3, 0), 2.0, None)
    check("aten._cdist_forward.default", torch.empty(0, 2), torch.empty(3, 2), 1.0, None)
