from __future__ import annotations

from typing import Any

import pytest
import torch
from jaxlib.mlir import ir

from neuron_compile.codegen.host_rewrites import rewrite_for_host
from neuron_compile.codegen.legality.program_module import open_context, read_module, write_module

SHAPE = "4x5"


def artifact(
    *, element: str = "i32", direction: str = "LT", axis: int = 1, places: str = "iota"
) -> bytes:
    """A program that sorts a matrix along its rows, and carries places along."""
    kind = "SIGNED" if element.startswith("i") else "FLOAT"
    made = {
        "iota": f"stablehlo.iota dim = {axis} : tensor<{SHAPE}xi32>",
        "argument": f"stablehlo.negate %arg1 : tensor<{SHAPE}xi32>",
    }[places]
    text = f"""
func.func @main(%arg0: tensor<{SHAPE}x{element}>, %arg1: tensor<{SHAPE}xi32>)
    -> (tensor<{SHAPE}x{element}>, tensor<{SHAPE}xi32>) {{
  %0 = {made}
  %1:2 = "stablehlo.sort"(%arg0, %0) <{{dimension = 1 : i64, is_stable = true}}> ({{
  ^bb0(%a: tensor<{element}>, %b: tensor<{element}>, %c: tensor<i32>, %d: tensor<i32>):
    %2 = stablehlo.compare {direction}, %a, %b, {kind}
        : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }}) : (tensor<{SHAPE}x{element}>, tensor<{SHAPE}xi32>)
      -> (tensor<{SHAPE}x{element}>, tensor<{SHAPE}xi32>)
  return %1#0, %1#1 : tensor<{SHAPE}x{element}>, tensor<{SHAPE}xi32>
}}
"""
    with open_context() as context:
        return write_module(ir.Module.parse(text, context))


def test_keys_with_their_places_are_packed() -> None:
    text = str(read_module(rewrite_for_host(artifact())))
    assert '"stablehlo.sort"' in text
    assert f"(tensor<{SHAPE}xi64>) -> tensor<{SHAPE}xi64>" in text


@pytest.mark.parametrize(
    "changed",
    [
        {"element": "f32"},
        {"direction": "GT"},
        {"direction": "LE"},
        {"axis": 0},
        {"places": "argument"},
    ],
)
def test_any_other_sort_is_left_as_it_is(changed: dict[str, Any]) -> None:
    program = artifact(**changed)
    assert rewrite_for_host(program) == program


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_compiled_sorts_are_stable_as_in_eager(descending: bool, dim: int) -> None:
    extremes = torch.tensor([2**31 - 1, -(2**31), 0, -1, 1], dtype=torch.int32)
    numbers = [
        torch.randint(-3, 3, (40, 50), dtype=torch.int32),
        extremes[torch.randint(0, 5, (40, 50))],
        torch.randint(-3, 3, (40, 50)).float() * -0.0,
    ]
    for values in numbers:

        def function(x: torch.Tensor) -> Any:
            return torch.sort(x, dim=dim, stable=True, descending=descending)

        compiled = torch.compile(function, backend="neuron", dynamic=False)
        torch.testing.assert_close(tuple(compiled(values)), tuple(function(values)))
