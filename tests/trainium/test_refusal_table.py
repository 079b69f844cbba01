"""The documented refusals, row by row, from PyTorch functions: which code, at which line, and equal
numbers where an equal form exists.

What is refused is found twice, in the package's StableHLO and by the stand-in compiler in HLO.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.codegen.legality.device import device_of
from neuron_compile.codegen.legality.legalize import find_refusals
from neuron_compile.codegen.legality.refusal import IllegalProgramError
from neuron_compile.codegen.neuronx_cc.diagnose import CompilerError
from neuron_compile.codegen.neuronx_cc.documented_codes import DOCUMENTED
from neuron_compile.codegen.neuronx_cc.hlo_program import to_hlo
from neuron_compile.errors import DynamicShapesError, Float64Warning, UnsupportedOpError
from neuron_compile.explanation.capture import capture
from neuron_compile.explanation.lower_fully import lower_fully
from neuron_compile.options import CompileOptions
from neuron_compile.target import TARGETS
from neuron_compile.workers.in_process import InProcess
from parity import check_parity, compile_error, compiled
from stand_ins.hlo_proto import read_module
from stand_ins.refusals import refuse

TRN2: Final = {"target": "trn2", "execute": "host"}


def strided_dilated_convolution(x: Tensor, w: Tensor) -> Tensor:
    return F.conv2d(x, w, stride=2, dilation=2)


def dilated_transposed_convolution(x: Tensor, w: Tensor) -> Tensor:
    return F.conv_transpose2d(x, w, stride=2, dilation=2)


def grouped_convolution(x: Tensor, w: Tensor) -> Tensor:
    return F.conv1d(x, w, stride=3, dilation=2, groups=2, padding=2)


def sort(x: Tensor) -> Any:
    return x.sort(dim=-1, stable=True)


def greatest_integers(x: Tensor) -> Any:
    return x.topk(3)


def add_bytes(x: Tensor, i: Tensor, y: Tensor) -> Tensor:
    return x.index_add(0, i, y)


def flags(x: Tensor, i: Tensor, y: Tensor) -> Tensor:
    return x.index_put((i,), y, accumulate=True)


def add_integers(x: Tensor, i: Tensor, y: Tensor) -> Tensor:
    return x.scatter_add(0, i, y)


def shift(x: Tensor) -> Tensor:
    return x >> 3


def multiply_integers(x: Tensor) -> Tensor:
    return x @ x


def float64(x: Tensor) -> Tensor:
    return x * 0.5 + 1


def dropout(x: Tensor) -> Tensor:
    return F.dropout(x, 0.4)


def complex_numbers(x: Tensor) -> Tensor:
    return torch.view_as_real(torch.complex(x, x) * 2)


def fourier(x: Tensor) -> Any:
    return torch.fft.rfft(x).abs()


def solve(x: Tensor) -> Any:
    return torch.linalg.solve_triangular(x, x, upper=False)


def float8(x: Tensor) -> Tensor:
    return x.to(torch.float8_e4m3fn).float()


def float8_fnuz(x: Tensor) -> Tensor:
    return x.to(torch.float8_e4m3fnuz).float()


def multiply_into(x: Tensor, i: Tensor, y: Tensor) -> Tensor:
    return x.scatter_reduce(0, i, y, "prod")


def too_large(x: Tensor) -> Tensor:
    return x[0] + 1


def wide(*shape: int) -> Tensor:
    return torch.randint(-(2**40), 2**40, shape)


def places(count: int) -> Tensor:
    return torch.randint(0, 7, (count,))


def small(count: int) -> Tensor:
    return torch.randint(-128, 128, (count,), dtype=torch.int8)


def real(*shape: int, grad: bool = True) -> Tensor:
    return torch.randn(*shape, requires_grad=grad)


@dataclass(frozen=True)
class Row:
    """A function whose only line is refused with `code`, forward or backward."""

    code: str
    function: Callable[..., Any]
    inputs: Callable[[], tuple[Tensor, ...]]
    bound: float | None = None

    @property
    def place(self) -> tuple[str, int]:
        code = self.function.__code__
        return code.co_filename, code.co_firstlineno + 1


MENDED = [
    Row("EVRF010", strided_dilated_convolution, lambda: (real(2, 3, 9, 9), real(4, 3, 3, 3)), 1e-5),
    Row(
        "EVRF011",
        dilated_transposed_convolution,
        lambda: (real(2, 3, 5, 5), real(3, 4, 3, 3)),
        1e-5,
    ),
    Row("EVRF010", grouped_convolution, lambda: (real(2, 4, 17), real(6, 2, 3)), 1e-5),
    Row("EVRF029", sort, lambda: (real(3, 20),)),
    Row("EVRF029", greatest_integers, lambda: (wide(4, 40),)),
    Row("EVRF016", add_bytes, lambda: (small(9), places(40), small(40))),
    Row("EVRF060", flags, lambda: (small(9) > 90, places(40), small(40) > 0)),
    Row("EVRF060", add_integers, lambda: (wide(9), places(40), wide(40))),
    Row("EVRF022", shift, lambda: (wide(9),)),
    Row("EVRF035", multiply_integers, lambda: (wide(5, 5),)),
]

REFUSED = [
    Row("EVRF004", complex_numbers, lambda: (real(3, grad=False),)),
    Row("EVRF001", fourier, lambda: (real(8, grad=False),)),
    Row("EVRF004", fourier, lambda: (real(8),)),
    Row("EVRF015", solve, lambda: (torch.eye(3),)),
    Row("EVRF051", float8, lambda: (real(3, grad=False),)),
    Row("EVRF060", multiply_into, lambda: (wide(9), places(40), wide(40))),
]

# No function of PyTorch's leads to these forms, as the lowering makes others; StableHLO that does
# is in tests/unit/codegen/legality: the former under `rewrites`, the latter in test_legalize.py.
FROM_STABLEHLO = {
    *("EVRF013", "EVRF017", "EVRF018", "EVRF019", "EVRF031", "EVRF056", "EVRF062", "ESFH002"),
    *("EVRF052", "ESPP047", "EVRF061", "EVRF063"),
}
# Found by the compiler alone, in programs or machines that no check here can judge.
FROM_THE_COMPILER = {
    *("EBVF030", "EVRF007", "EXTP004", "EOOM001", "EOOM002", "EXSP001"),
    *("EUOC002", "EHCA005", "EVRF064"),
}
# Have a test of their own below, or, for EARG001, in test_generator.py.
OF_THEIR_OWN = {"EMOD025", "ESPP004", "EVRF005", "EVRF006", "EVRF009", "EARG001"}


def as_it_stands(row: Row) -> set[tuple[str, tuple[str, int]]]:
    """Code and place of everything that is refused before anything is rewritten.

    The stand-in, which looks at HLO, must refuse the same; only 64-bit constants of the lowering's
    own are folded before it sees them.
    """
    captured = capture(row.function, row.inputs(), {}, CompileOptions(target="trn2"))
    found = set()
    for graph in captured.graphs:
        lowering = lower_fully(graph.module, InProcess(HostCodeGenerator()), TARGETS["trn2"])
        assert lowering.blobs is not None
        assert lowering.imported is not None
        refusals = find_refusals(lowering.blobs["stablehlo"], device_of("trn2"))
        in_hlo = refuse(read_module(to_hlo(lowering.blobs["stablehlo"])), "trn2", set())
        assert {code for code, _, _ in in_hlo} ^ {r.code for r in refusals} <= {"ESPP004"}
        for refusal in refusals:
            for node in refusal.nodes:
                source = lowering.imported.origins[node].source
                assert source is not None
                found.add((refusal.code, (source.file, source.line)))
    return found


@pytest.mark.parametrize(
    "row", [*MENDED, *REFUSED], ids=lambda row: f"{row.code}-{row.function.__name__}"
)
def test_row_is_refused_as_it_stands_at_the_users_line(row: Row) -> None:
    found = as_it_stands(row)
    assert (row.code, row.place) in found
    assert {place for _, place in found} == {row.place}


@pytest.mark.parametrize("row", MENDED, ids=lambda row: f"{row.code}-{row.function.__name__}")
def test_mended_row_compiles_and_its_numbers_are_those_of_eager(
    compiler: Any, calls: Any, row: Row
) -> None:
    inputs = row.inputs()
    grad = any(tensor.requires_grad for tensor in inputs)
    settings = {"options": TRN2}
    check_parity(row.function, *inputs, grad=grad, calls=1, settings=settings, bound=row.bound)
    assert len(calls()) == 1 + grad


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: f"{row.code}-{row.function.__name__}")
def test_row_without_an_equal_form_is_an_error_before_the_compiler_is_called(
    compiler: Any, calls: Any, row: Row
) -> None:
    with pytest.raises(Exception) as raised:
        compiled(row.function, options=TRN2)(*row.inputs())
    error = compile_error(raised, IllegalProgramError)
    file, line = row.place
    assert any(f"NCC_{row.code}" in place and f"{file}:{line}" in place for place in error.where)
    assert f"NCC_{row.code}: " in error.why
    assert calls() == []


def test_random_bits_by_another_algorithm_become_the_same_bits_by_arithmetic(compiler: Any) -> None:
    row = Row("EVRF006", dropout, lambda: (torch.ones(400),))
    assert (row.code, row.place) in as_it_stands(row)
    kept = []
    for options in ({}, TRN2):
        torch.manual_seed(4)
        torch._dynamo.reset()
        kept.append(compiled(dropout, options=options)(*row.inputs()))
    assert torch.equal(*kept)
    assert 180 < (kept[0] > 0).sum() < 300


def test_program_larger_than_device_memory_is_refused() -> None:
    row = Row("EVRF009", too_large, lambda: (torch.zeros(1).expand(2**33),))
    captured = capture(row.function, row.inputs(), {}, CompileOptions(target="trn2"))
    (graph,) = captured.graphs
    lowering = lower_fully(graph.module, InProcess(HostCodeGenerator()), TARGETS["trn2"])
    assert lowering.blobs is not None
    (refusal,) = find_refusals(lowering.blobs["stablehlo"], device_of("trn2"))
    assert refusal.code == "EVRF009"
    assert "32.0 GiB" in refusal.why


def test_dynamic_dimension_is_an_error_before_lowering(compiler: Any, calls: Any) -> None:
    with pytest.raises(Exception) as raised:
        compiled(shift, dynamic=True, options=TRN2)(torch.arange(6))
    compile_error(raised, DynamicShapesError)
    assert calls() == []


def test_float64_becomes_float32_with_a_warning_that_names_the_line(compiler: Any) -> None:
    x = torch.randn(5, dtype=torch.float64)
    file, line = Row("ESPP004", float64, tuple).place
    with pytest.warns(Float64Warning, match=f"{file}:{line}"):
        result = compiled(float64, options=TRN2)(x)
    assert result.dtype is torch.float64
    assert torch.equal(result, float64(x.float()).double())


def test_numbers_that_not_even_the_host_has_are_refused_in_lowering(
    compiler: Any, calls: Any
) -> None:
    row = Row("EVRF005", float8_fnuz, lambda: (torch.ones(3),))
    with pytest.raises(Exception) as raised:
        compiled(row.function, options=TRN2)(*row.inputs())
    error = compile_error(raised, UnsupportedOpError)
    file, line = row.place
    assert any(f"{file}:{line}" in place for place in error.where)
    assert "float8_e4m3fnuz" in error.why
    assert calls() == []


@pytest.mark.parametrize("code", sorted(FROM_THE_COMPILER))
def test_what_the_compiler_alone_can_find_is_reported_with_its_meaning_and_line(
    compiler: Any, code: str
) -> None:
    compiler(mode="exit70", say=f"[ERROR] [NCC_{code}] in %n1.2 = f32[4] multiply")
    with pytest.raises(Exception) as raised:
        compiled(float64, options=TRN2)(torch.ones(4))
    error = compile_error(raised, CompilerError)
    meaning, advice = DOCUMENTED[code]
    assert error.codes == (code,)
    assert meaning in error.why
    assert advice in error.hint
    file, line = Row(code, float64, tuple).place
    assert any(f"{file}:{line}" in place for place in error.where)


def test_every_documented_code_is_in_one_of_the_tables() -> None:
    rows = {row.code for row in (*MENDED, *REFUSED)}
    assert rows | FROM_STABLEHLO | FROM_THE_COMPILER | OF_THEIR_OWN == DOCUMENTED.keys()
