from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize


@pytest.mark.parametrize("kind,element", [(np.int64, "i64"), (np.uint64, "ui64")])
def test_powers_wrap_and_negative_exponents_follow_the_definition(
    check_rewrite: Any, kind: Any, element: str
) -> None:
    signed = kind is np.int64
    bases = np.array([0, 1, 2, 3, 10, 2**40 + 1] + ([-1, -2, -3] if signed else [2**63]), kind)
    powers = np.array([0, 1, 2, 5, 31, 63] + ([-1, -2, -(2**63)] if signed else []), kind)
    x, y = (grid.reshape(-1) for grid in np.meshgrid(bases, powers))
    keep = ~((x == 0) & (y < 0))  # division by zero: anything may come out
    x, y = x[keep], y[keep]
    text = f"""
    func.func @main(%x: tensor<{x.size}x{element}>, %y: tensor<{x.size}x{element}>)
        -> tensor<{x.size}x{element}> {{
      %0 = stablehlo.power %x, %y : tensor<{x.size}x{element}> #7
      return %0 : tensor<{x.size}x{element}>
    }}"""
    check_rewrite(text, [x, y], "EVRF062")


def test_large_exponents_wrap_where_the_host_takes_their_low_bits(program: Any, run: Any) -> None:
    text = """
    func.func @main(%x: tensor<3xui64>, %y: tensor<3xui64>) -> tensor<3xui64> {
      %0 = stablehlo.power %x, %y : tensor<3xui64> #7
      return %0 : tensor<3xui64>
    }"""
    x, y = [3, 10, 2**40 + 1], [64, 2**40 + 7, 2**64 - 1]
    after = legalize(program(text), device_of("trn2"))
    (found,) = run(after.stablehlo, [np.array(x, np.uint64), np.array(y, np.uint64)])
    assert found.tolist() == [pow(b, e, 2**64) for b, e in zip(x, y, strict=True)]


def test_constant_exponent_takes_few_multiplications(check_rewrite: Any) -> None:
    text = """
    func.func @main(%x: tensor<4xi64>) -> tensor<4xi64> {
      %c = stablehlo.constant dense<3> : tensor<i64>
      %y = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i64>) -> tensor<4xi64>
      %0 = stablehlo.power %x, %y : tensor<4xi64> #7
      return %0 : tensor<4xi64>
    }"""
    after = check_rewrite(text, [np.array([-3, 0, 7, 2**62], np.int64)], "EVRF062")
    assert len(after.stablehlo) < 2500
