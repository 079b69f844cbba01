from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from neuron_compile.lowering.errors import UnsupportedOpError
from neuron_compile.lowering.from_fx import from_fx
from neuron_compile.lowering.library.arguments import Arguments
from neuron_compile.lowering.library.table import TABLE, find, is_library_only
from neuron_compile.lowering.program import TensorSpec

REAL = TensorSpec((2,), "float32", (1,))
COMPLEX = TensorSpec((2,), "complex64", (1,))


@pytest.fixture
def operator() -> Iterator[str]:
    """An operator that only PyTorch knows."""
    library = torch.library.Library("table_test", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CompositeExplicitAutograd")
    yield "twice"
    library._destroy()


def test_a_real_sum_of_two_is_torch_mlirs_and_a_complex_one_the_librarys() -> None:
    name, row = "aten.add.Tensor", TABLE["aten.add.Tensor"]
    assert find(name, Arguments(), [REAL, REAL], [REAL]) is None
    assert find(name, Arguments(), [REAL, COMPLEX], [COMPLEX]) is row
    assert find(name, Arguments(), [COMPLEX], [COMPLEX]) is row
    assert find("aten.abs.default", Arguments(), [COMPLEX], [REAL]) is TABLE["aten.abs.default"]
    assert find(name, Arguments(), [REAL, REAL], [REAL], forced=True) is row


def test_complex_operands_and_results_are_the_librarys_alone() -> None:
    assert is_library_only([REAL, COMPLEX], [REAL])
    assert is_library_only([], [None, COMPLEX])
    assert not is_library_only([REAL, None], [None, REAL])


def test_a_complex_call_without_a_body_is_refused(operator: str) -> None:
    call = getattr(torch.ops.table_test, operator)
    graph = make_fx(lambda x: (call(x),), tracing_mode="fake")(
        torch.zeros(2, dtype=torch.complex64)
    )
    with pytest.raises(UnsupportedOpError, match="no body for it on complex tensors"):
        from_fx(graph)
