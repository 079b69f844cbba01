from __future__ import annotations

import re

from neuron_compile.lowering.library.symbol import library_symbol
from neuron_compile.lowering.program import TensorSpec

ROWS = TensorSpec((2, 3), "float32", (3, 1))


def test_symbol_names_the_operator() -> None:
    assert re.fullmatch(
        r"lib_sort_stable_[0-9a-f]{12}", library_symbol("aten.sort.stable", "x", [ROWS], [])
    )
    assert library_symbol("aten.topk.default", "x", [], []).startswith("lib_topk_")


def test_symbol_depends_on_all_that_decides_the_body_and_not_on_strides() -> None:
    base = library_symbol("aten.sort.stable", "x", [ROWS], [ROWS, None])
    others = [
        library_symbol("aten.sort.default", "x", [ROWS], [ROWS, None]),
        library_symbol("aten.sort.stable", "y", [ROWS], [ROWS, None]),
        library_symbol(
            "aten.sort.stable", "x", [TensorSpec((2, 3), "int64", (3, 1))], [ROWS, None]
        ),
        library_symbol(
            "aten.sort.stable", "x", [TensorSpec((3, 2), "float32", (2, 1))], [ROWS, None]
        ),
        library_symbol("aten.sort.stable", "x", [ROWS], [ROWS]),
        library_symbol("aten.sort.stable", "x", [ROWS, ROWS], [None]),
    ]
    assert len({base, *others}) == 7
    transposed = TensorSpec((2, 3), "float32", (1, 2))
    assert library_symbol("aten.sort.stable", "x", [transposed], [ROWS, None]) == base
