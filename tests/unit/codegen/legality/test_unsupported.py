from __future__ import annotations

from neuron_compile.codegen.legality.refusal import IllegalProgramError, Refusal
from neuron_compile.codegen.legality.unsupported import unsupported_operations
from neuron_compile.errors import SourceLine
from neuron_compile.lowering.from_fx import NodeOrigin

LINE = SourceLine("m.py", 4, "y = fft(x)")
ORIGINS = [
    NodeOrigin("add", "aten.add.Tensor", "float32[2]", None),
    NodeOrigin("fft", "aten._fft_r2c.default", "float32[2]", LINE),
]


def refusal(code: str, *nodes: int) -> Refusal:
    return Refusal(code, "stablehlo.fft", nodes, f"why {code}", "way out.")


def test_each_operation_is_found_once_with_its_line() -> None:
    error = IllegalProgramError([refusal("EVRF001", 1), refusal("EVRF004", 0, 1)], target="trn2")
    found = unsupported_operations(error, ORIGINS)
    assert [(o.operator, o.node, o.source) for o in found] == [
        ("aten._fft_r2c.default", "fft", LINE),
        ("aten.add.Tensor", "add", None),
    ]
    assert found[0].reason == "NCC_EVRF001: why EVRF001."


def test_refusal_behind_which_no_operation_is_cannot_be_run_elsewhere() -> None:
    for other in (refusal("EVRF009"), refusal("EVRF004", 7)):
        error = IllegalProgramError([refusal("EVRF001", 1), other], target="trn2")
        assert unsupported_operations(error, ORIGINS) == ()
