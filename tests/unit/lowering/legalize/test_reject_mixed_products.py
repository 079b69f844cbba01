"""Products of mixed dtypes are refused with all their places."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from neuron_compile.lowering.errors import UnsupportedOpError
from neuron_compile.lowering.legalize.reject_mixed_products import reject_mixed_products


def captured(right: torch.dtype) -> torch.fx.GraphModule:
    with FakeTensorMode():
        a, b = torch.ones(2, 2), torch.ones(2, 2, dtype=right)
    return make_fx(lambda a, b: (a @ b, b @ a), tracing_mode="real")(a, b)


def test_every_mixed_product_is_named() -> None:
    with pytest.raises(UnsupportedOpError, match="bfloat16 and float32") as raised:
        reject_mixed_products(captured(torch.bfloat16))
    assert [op.operator for op in raised.value.operations] == ["aten.mm.default"] * 2


def test_products_of_one_dtype_pass() -> None:
    module = captured(torch.float32)
    before = str(module.graph)
    reject_mixed_products(module)
    assert str(module.graph) == before
    with pytest.raises(UnsupportedOpError):
        reject_mixed_products(captured(torch.float16))
