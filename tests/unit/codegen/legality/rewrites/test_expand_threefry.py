from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import legalize
from tiers import slow_unless

BITS = """
func.func @main(%s: tensor<{n}xui64>) -> (tensor<{n}xui64>, tensor<{y}>) {{
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm}
    : (tensor<{n}xui64>) -> (tensor<{n}xui64>, tensor<{y}>) #7
  return %0, %1 : tensor<{n}xui64>, tensor<{y}>
}}
"""


SHAPES = ["", "1x", "5x", "8x", "3x5x", "3x1x4x", "1x1x"]


@pytest.mark.parametrize(
    "shape,element",
    slow_unless(
        [("", "ui32"), ("5x", "ui32"), ("3x1x4x", "ui32"), ("3x5x", "ui64"), ("8x", "ui8")],
        [(shape, element) for shape in SHAPES for element in ("ui8", "ui16", "ui32", "ui64")],
    ),
)
def test_same_bits_and_state_as_the_host(check_rewrite: Any, shape: str, element: str) -> None:
    text = BITS.format(n=2, y=f"{shape}{element}", algorithm="THREE_FRY")
    state = np.array([0x0123456789ABCDEF, 2**64 - 3], np.uint64)
    check_rewrite(text, [state], "EVRF006")


def test_signed_results_are_the_same_bits(program: Any, run: Any) -> None:
    state = np.array([5, 6], np.uint64)
    signed, unsigned = (
        run(
            legalize(
                program(BITS.format(n=2, y=kind, algorithm="THREE_FRY")), device_of("trn2")
            ).stablehlo,
            [state],
        )[1]
        for kind in ("7xi32", "7xui32")
    )
    assert signed.dtype == np.int32
    np.testing.assert_array_equal(signed.view(np.uint32), unsigned)


def test_other_algorithms_are_refused_and_the_default_is_not(program: Any) -> None:
    for algorithm, codes in (("PHILOX", ["EVRF006"]), ("DEFAULT", [])):
        text = BITS.format(n=3, y="4xui32", algorithm=algorithm)
        found = legalize(program(text), device_of("trn2"))
        assert [r.code for r in found.refusals] == codes


def test_device_without_64_bits_cannot_hold_the_state(program: Any) -> None:
    text = BITS.format(n=2, y="4xui32", algorithm="THREE_FRY")
    (refusal,) = legalize(program(text), device_of("trn1")).refusals
    assert (refusal.code, refusal.nodes) == ("EVRF006", (7,))
