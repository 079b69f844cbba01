from __future__ import annotations

import pytest
import torch

from neuron_compile.lowering.errors import LoweringError
from neuron_compile.lowering.library.link import custom_call_targets, link
from neuron_compile.lowering.library.trace import trace
from unit.lowering.library.against_eager import execute, library_call

ROW = torch.tensor([3.0, 1.0, 2.0])
TYPE = "tensor<3xf32>"


def sort_text(descending: bool) -> str:
    return trace(library_call("aten.sort.default", [ROW, None], ROW, 0, descending)[0])


def module(*symbols: str) -> str:
    calls = "".join(
        f"    %{i + 1} = stablehlo.custom_call @{symbol}(%{i}) : ({TYPE}) -> {TYPE}\n"
        for i, symbol in enumerate(symbols)
    ).replace("(%0)", "(%arg0)")
    return (
        f"module {{\n  func.func public @main(%arg0: {TYPE}) -> {TYPE} {{\n{calls}"
        f"    return %{len(symbols)} : {TYPE}\n  }}\n}}\n"
    )


def test_a_linked_call_computes() -> None:
    linked = link(module("lib_up"), {"lib_up": sort_text(False)})
    assert custom_call_targets(linked) == ()
    assert execute(str(linked), [ROW])[0].tolist() == [1.0, 2.0, 3.0]


def test_functions_of_two_bodies_do_not_collide() -> None:
    bodies = {"lib_up": sort_text(False), "lib_down": sort_text(True)}
    linked = link(module("lib_up", "lib_down"), bodies)
    assert execute(str(linked), [ROW])[0].tolist() == [3.0, 2.0, 1.0]


def test_equal_bodies_are_linked_once() -> None:
    text = str(
        link(module("lib_a", "lib_b"), {"lib_a": sort_text(False), "lib_b": sort_text(False)})
    )
    assert text.count("func.func private @lib_a(") == 1
    assert text.count("call @lib_a(") == 2
    assert "@lib_b" not in text


def test_a_body_that_is_not_called_is_left_out() -> None:
    linked = link(module("lib_up"), {"lib_up": sort_text(False), "lib_down": sort_text(True)})
    assert "lib_down" not in str(linked)


def test_calls_inside_control_flow_are_linked() -> None:
    text = f"""
module {{
  func.func public @main(%arg0: {TYPE}, %arg1: tensor<i32>) -> {TYPE} {{
    %0 = "stablehlo.case"(%arg1) ({{
      %1 = stablehlo.custom_call @lib_up(%arg0) : ({TYPE}) -> {TYPE}
      stablehlo.return %1 : {TYPE}
    }}, {{
      stablehlo.return %arg0 : {TYPE}
    }}) : (tensor<i32>) -> {TYPE}
    return %0 : {TYPE}
  }}
}}
"""
    linked = link(text, {"lib_up": sort_text(False)})
    ran = [execute(str(linked), [ROW, torch.tensor(i, dtype=torch.int32)])[0] for i in (0, 1)]
    assert [result.tolist() for result in ran] == [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0]]


def test_remaining_targets_are_reported() -> None:
    linked = link(module("lapack_one", "lib_up", "other"), {"lib_up": sort_text(False)})
    assert custom_call_targets(linked) == ("lapack_one", "other")


def test_a_body_that_does_not_fit_its_call_is_an_error() -> None:
    longer = trace(library_call("aten.sort.default", [torch.zeros(4), None], torch.zeros(4))[0])
    with pytest.raises(LoweringError, match="invalid module"):
        link(module("lib_up"), {"lib_up": longer})


def test_a_body_calls_the_functions_of_the_module_that_it_declares() -> None:
    given = module("lib_twice").replace(
        "module {\n",
        f"module {{\n  func.func @region_0(%x: {TYPE}) -> {TYPE} {{\n"
        f"    %y = stablehlo.add %x, %x : {TYPE}\n    return %y : {TYPE}\n  }}\n",
    )
    body = (
        f"module {{\n  func.func private @region_0({TYPE}) -> {TYPE}\n"
        f"  func.func public @main(%x: {TYPE}) -> {TYPE} {{\n"
        f"    %y = func.call @region_0(%x) : ({TYPE}) -> {TYPE}\n    return %y : {TYPE}\n  }}\n}}\n"
    )
    text = str(link(given, {"lib_twice": body}))
    assert text.count("func.func private @region_0(") == 1
    assert execute(text, [ROW])[0].tolist() == [6.0, 2.0, 4.0]
