"""From a legal graph to the torch dialect, with library calls as custom calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from fx_graphs import capture
from neuron_compile.errors import UnsupportedOpError
from neuron_compile.lowering import TensorSpec
from neuron_compile.lowering.import_fx import import_fx

ROWS = TensorSpec((2, 3), "float32", (3, 1))
X = torch.tensor([[1.0, -2.0, 3.0], [0.0, 5.0, -6.0]])


@pytest.fixture
def unlisted() -> Iterator[torch.library.Library]:
    """Two operators that only PyTorch knows."""
    library = torch.library.Library("import_test", "FRAGMENT")
    for name in ("one", "two"):
        library.define(f"{name}(Tensor[] x) -> Tensor?")
        library.impl(name, lambda x: x[0] + 1, "CompositeExplicitAutograd")
    yield library
    library._destroy()


def numbers(module: torch.fx.GraphModule, name: str) -> list[int]:
    return [n for n, node in enumerate(module.graph.nodes) if name in str(node.target)]


def test_a_library_operator_becomes_a_custom_call_with_its_arguments_and_types() -> None:
    program = import_fx(capture(lambda x: x.sort(1, descending=True)[0] + x, X))
    (call,) = program.calls
    assert call.operator == "aten.sort.default"
    assert call.operands == (ROWS,)
    assert call.results == (ROWS, TensorSpec((2, 3), "int64", (3, 1)))
    assert f"stablehlo.custom_call @{call.symbol}" in program.module
    assert "torch.aten.add" in program.module


def test_equal_library_calls_share_one_function() -> None:
    program = import_fx(capture(lambda x: torch.hypot(x, torch.hypot(x, x)), X))
    assert len(program.calls) == 1
    assert program.module.count(f"@{program.calls[0].symbol}") == 2


def test_forced_node_goes_to_the_library_and_an_opaque_one_to_nobody() -> None:
    module = capture(lambda x: x.exp(), X)
    (number,) = numbers(module, "exp")
    assert import_fx(module).calls == ()
    assert [c.operator for c in import_fx(module, forced=frozenset({number})).calls] == [
        "aten.exp.default"
    ]
    hidden = import_fx(module, opaque=frozenset({number}))
    assert hidden.calls == ()
    assert f"@opaque_{number}" in hidden.module


@pytest.mark.usefixtures("unlisted")
def test_every_operator_that_cannot_be_imported_is_named() -> None:
    operators = torch.ops.import_test

    def function(x: Tensor) -> list[Tensor]:
        complex_one = torch.complex(x, x)
        return [operators.one([complex_one]), x.sin(), operators.two([complex_one])]

    with pytest.raises(UnsupportedOpError) as raised:
        import_fx(capture(function, X))
    assert [operation.operator for operation in raised.value.operations] == [
        "import_test.one.default",
        "import_test.two.default",
    ]


def test_locations_are_node_numbers_and_the_graphs_stack_traces_stay() -> None:
    module = capture(lambda x: x.sin(), X)
    (number,) = numbers(module, "sin")
    node = list(module.graph.nodes)[number]
    node.meta["stack_trace"] = 'File "/secret/model.py", line 1, in f'
    text = import_fx(module).module
    assert f'loc("n{number}")' in text
    assert "/secret" not in text
    assert node.meta["stack_trace"].endswith("in f")


@pytest.mark.parametrize(
    "constant",
    [
        torch.tensor([True, False, True, True, False, False, True, False, True]),
        torch.tensor([0, 127, 128, 255], dtype=torch.uint8),
        torch.tensor([-1, 2**40]),
        torch.tensor([1.5, float("nan"), float("-inf")]),
        torch.tensor([1.0, 3.140625], dtype=torch.bfloat16),
        torch.tensor([1.0, 65504.0], dtype=torch.float16),
        torch.tensor([1 + 2j, -3j], dtype=torch.complex64),
        torch.empty(0, 3),
        torch.tensor(7),
        torch.arange(6).view(2, 3).t(),
    ],
    ids=lambda constant: str(constant.dtype),
)
def test_constants_keep_every_bit(constant: Tensor) -> None:
    def function(x: Tensor) -> Tensor:
        return x + torch.tensor(constant.tolist(), dtype=constant.dtype).reshape(constant.shape)

    x = torch.zeros(constant.shape, dtype=constant.dtype)
    actual = torch.compile(function, backend="neuron", dynamic=False)(x)
    torch.testing.assert_close(actual, function(x), equal_nan=True, rtol=0, atol=0)


def test_a_constant_is_used_by_operators_of_both_kinds_and_more_than_once() -> None:
    def function(x: Tensor) -> list[Tensor]:
        constant = torch.tensor([3.0, 4.0])
        return [x + constant, torch.logaddexp(x, constant), torch.hypot(x, constant), x * constant]

    x = torch.tensor([1.0, 2.0])
    actual = torch.compile(function, backend="neuron", dynamic=False)(x)
    torch.testing.assert_close(actual, function(x))
