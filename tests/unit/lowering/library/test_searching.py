from __future__ import annotations

import pytest
import torch

from neuron_compile.lowering.errors import UnsupportedOpError
from unit.lowering.library.against_eager import check, run

T = torch.tensor
NAN, INF = float("nan"), float("inf")
EDGES = T([1.0, 3.0, 3.0, 5.0])
VALUES = T([[3.0, 0.5, 9.0], [NAN, INF, -INF]])


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("out_int32", [True, False])
def test_places_in_a_sorted_sequence(right: bool, out_int32: bool) -> None:
    options = {"right": right, "out_int32": out_int32}
    check("aten.searchsorted.Tensor", EDGES, VALUES, **options)
    check("aten.searchsorted.Scalar", EDGES, 3, **options)
    check("aten.bucketize.Tensor", VALUES, EDGES, **options)
    rows = torch.randn(2, 5).sort(-1)[0]
    check("aten.searchsorted.Tensor", rows, torch.randn(2, 3), **options)
    shuffled = torch.randn(2, 5)
    check(
        "aten.searchsorted.Tensor",
        shuffled,
        torch.randn(2, 3),
        sorter=shuffled.argsort(-1),
        **options,
    )
    check("aten.searchsorted.Tensor", T([1, 4, 9]), T([4, 5, 10]), **options)


def test_side_names_the_right() -> None:
    check("aten.searchsorted.Tensor", EDGES, T([3.0]), side="right")


def test_histc() -> None:
    values = torch.randn(40)
    check("aten.histc.default", values, 7)
    check("aten.histc.default", values, 5, -1, 0.5)
    check("aten.histc.default", torch.full((3,), 2.0), 4)


def test_histogram() -> None:
    values, weight = torch.randn(40), torch.rand(40)
    for density in (True, False):
        check("aten.histogram.bin_ct", values, 6, density=density)
        check("aten.histogram.bin_ct", values, 6, range=[-1.0, 1.0], weight=weight, density=density)
        check("aten.histogram.bins_tensor", values, T([-1.0, 0.0, 0.2, 2.0]), density=density)


def test_histogram_of_points() -> None:
    points = torch.randn(30, 2)
    check("aten._histogramdd_bin_edges.default", points, [3, 4])
    check("aten._histogramdd_from_bin_cts.default", points, [3, 4], range=[-1.0, 1.0, -2.0, 2.0])
    check(
        "aten._histogramdd_from_bin_tensors.default", points, [T([-1.0, 0.0, 1.0]), T([-2.0, 2.0])]
    )


def test_bincount_depends_on_data() -> None:
    check("aten.bincount.default", torch.empty(0, dtype=torch.int64), None, 3)
    with pytest.raises(UnsupportedOpError, match="largest value"):
        run("aten.bincount.default", [torch.zeros(3, dtype=torch.int64)], T([1, 2]))


def test_nonzero_of_a_given_number() -> None:
    for values in (
        torch.tensor([[1.0, 0.0], [NAN, 3.0]]),
        torch.tensor([True, False]),
        torch.tensor(3),
    ):
        for size in (0, 2, 5):
            check("aten.nonzero_static.default", values, size=size, fill_value=-7)


def test_repetition_of_a_known_total() -> None:
    for dtype in (torch.int64, torch.int32):
        repeats = torch.tensor([2, 0, 3], dtype=dtype)
        check("aten.repeat_interleave.Tensor", repeats, output_size=5)
    with pytest.raises(UnsupportedOpError, match="output_size"):
        run("aten.repeat_interleave.Tensor", [torch.empty(5).long()], torch.tensor([2, 3]))
