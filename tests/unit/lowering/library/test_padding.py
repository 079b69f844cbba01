from __future__ import annotations

import pytest
import torch

from unit.lowering.library.against_eager import check, overload

ARRAYS = [torch.randn(2, 5), torch.randn(2, 4, 5), torch.randn(2, 4, 3, 5)]
PADDINGS = [[2, 1], [1, 3, 2, 0], [2, 1, 0, 2, 1, 1]]


@pytest.mark.parametrize("kind", ["reflection", "replication"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_padding_and_gradient(kind: str, rank: int) -> None:
    name = f"aten.{kind}_pad{rank}d"
    paddings = [PADDINGS[rank - 1], [-1, *PADDINGS[rank - 1][1:]]]
    for padding in paddings:
        for array in (ARRAYS[rank - 1], ARRAYS[rank - 1][None]):
            check(f"{name}.default", array, padding)
            grad = torch.randn(overload(f"{name}.default")(array, padding).shape)
            check(f"{name}_backward.default", grad, array, padding)


def test_padding_of_integers_and_complex() -> None:
    check("aten.reflection_pad1d.default", torch.arange(10).view(2, 5), [2, 1])
    check(
        "aten.replication_pad2d.default", torch.randn(1, 4, 5, dtype=torch.complex64), [1, 1, 1, 1]
    )
    check("aten._pad_circular.default", torch.randn(1, 2, 4, 5), [1, 2, 3, 0])
