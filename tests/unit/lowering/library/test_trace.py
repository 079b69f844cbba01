from __future__ import annotations

import json
import subprocess
import sys

import pytest
import torch

from neuron_compile.lowering.errors import LoweringError, UnsupportedOpError
from neuron_compile.lowering.library.table import TABLE
from neuron_compile.lowering.library.trace import trace
from neuron_compile.lowering.program import LibraryCall, TensorSpec
from unit.lowering.library.against_eager import library_call

ROW = torch.zeros(4)


def result_types(text: str) -> str:
    """What `main` returns."""
    main = text[text.index("@main") :]
    return main[main.index("\n    return ") + 1 :].partition("\n")[0].partition(" : ")[2]


def take_call(result: torch.Tensor) -> LibraryCall:
    return library_call("aten.take.default", [result], ROW, torch.zeros(2, dtype=torch.int64))[0]


def test_results_are_cast_to_the_declared_dtype() -> None:
    assert result_types(trace(take_call(torch.zeros(2).bfloat16()))) == "tensor<2xbf16>"


def test_another_result_shape_than_declared_is_an_error() -> None:
    with pytest.raises(LoweringError, match=r"float32\[2\], declared float32\[3\]"):
        trace(take_call(torch.zeros(3)))


def test_another_number_of_results_than_declared_is_an_error() -> None:
    call, _ = library_call("aten.sort.default", [ROW], ROW)
    with pytest.raises(LoweringError, match="2 results, 1 declared"):
        trace(call)


def test_a_result_nobody_asked_for_is_left_out() -> None:
    call, _ = library_call("aten.sort.default", [None, ROW.long()], ROW)
    assert result_types(trace(call)) == "tensor<4xi64>"


def test_an_operator_without_a_body_is_unsupported() -> None:
    call, _ = library_call("aten.no_such_thing.default", [ROW], ROW)
    with pytest.raises(UnsupportedOpError, match="no body"):
        trace(call)


def test_a_failing_body_is_a_lowering_error_that_names_the_operator() -> None:
    call, _ = library_call("aten.sort.default", [ROW, ROW.long()], ROW, 0, nonsense=1)
    with pytest.raises(LoweringError, match=r"aten\.sort\.default failed"):
        trace(call)


def test_user_settings_of_jax_do_not_change_the_text() -> None:
    program = """
import jax, sys, json
if sys.argv[1] == "changed":
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "bfloat16")
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")
    jax.config.update("jax_debug_nans", True)
    jax.config.update("jax_disable_jit", True)
    jax.config.update("jax_default_prng_impl", "rbg")
from jax._src import xla_bridge
from neuron_compile.lowering.library.trace import trace
from neuron_compile.lowering.program import LibraryCall, TensorSpec
row, place, seed = (TensorSpec((4,), d, (1,)) for d in ("float32", "int64", "int64"))
seed = TensorSpec((1,), "int64", (1,))
texts = [
    trace(LibraryCall("s", "aten.sort.default", '[[{"o":0}],{}]', (row,), (row, place))),
    trace(LibraryCall(
        "s", "neuron_compile.gamma.default", '[[{"o":0},3,{"o":1}],{}]', (seed, row), (row,)
    )),
]
assert not xla_bridge._backends, "a JAX backend was initialised"
assert "torch" not in sys.modules
print(json.dumps(texts))
"""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program, mode], capture_output=True, text=True, check=True
        ).stdout
        for mode in ("plain", "changed")
    ]
    assert len(json.loads(outputs[0])) == 2
    assert outputs[0] == outputs[1]


def test_every_row_of_the_table_has_its_body() -> None:
    for operator, entry in TABLE.items():
        assert callable(entry.resolve()), operator


def test_every_overload_in_the_table_exists() -> None:
    for operator in TABLE:
        namespace, name, overload = operator.split(".")
        if namespace == "aten":
            assert overload in getattr(torch.ops.aten, name).overloads(), operator


def test_operand_types_are_those_of_the_table_of_dtypes() -> None:
    unsigned = TensorSpec((2,), "uint8", (1,))
    text = trace(
        LibraryCall("s", "aten.sort.default", '[[{"o":0}],{}]', (unsigned,), (unsigned, None))
    )
    assert "%arg0: tensor<2xui8>" in text
