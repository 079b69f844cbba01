"""The surface of `torch.compile`: every way to ask for the backend, and to keep it out."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo.utils import counters

from parity import BACKEND, check_parity, compiled, neuron_only


def graph_count() -> int:
    return int(counters["stats"]["unique_graphs"])


def test_decorator_with_arguments() -> None:
    @torch.compile(backend=BACKEND, dynamic=False, fullgraph=True)
    def use(x: Tensor) -> Tensor:
        """Doubles."""
        return x * 2

    assert torch.equal(use(torch.ones(3)), torch.full((3,), 2.0))
    assert use.__name__ == "use"
    assert use.__doc__ == "Doubles."


def test_module_method_and_in_place_compilation() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            return torch.relu(self.layer(x))

    module = Net()
    x = torch.randn(2, 3)
    expected = module(x)
    before = graph_count()
    module.compile(backend=BACKEND, dynamic=False)
    torch.testing.assert_close(module(x), expected)
    assert graph_count() == before + 1


def test_compiled_method_of_a_plain_class() -> None:
    class Scaler:
        factor = 3.0

        @torch.compile(backend=BACKEND, dynamic=False)
        def scale(self, x: Tensor) -> Tensor:
            return x * self.factor

    scaler = Scaler()
    assert scaler.scale(torch.ones(2)).tolist() == [3.0, 3.0]
    scaler.factor = 5.0
    assert scaler.scale(torch.ones(2)).tolist() == [5.0, 5.0]


def test_compiled_module_keeps_its_face() -> None:
    module = nn.Linear(3, 2)
    function = compiled(module)
    assert isinstance(function, nn.Module)
    assert function.weight is module.weight
    assert [p.shape for p in function.parameters()] == [p.shape for p in module.parameters()]
    assert function.eval().training is False
    assert module.training is False


def test_fullgraph_compiles_what_is_one_graph() -> None:
    check_parity(nn.Linear(3, 3), torch.randn(2, 3), settings={"fullgraph": True}, grad=True)


def breaks(x: Tensor) -> Tensor:
    y = x * 2
    torch._dynamo.graph_break()
    return y + 1


def test_graph_break_gives_two_graphs_and_the_right_result() -> None:
    before = graph_count()
    check_parity(breaks, torch.randn(3, requires_grad=False))
    assert graph_count() == before + 2


def test_fullgraph_refuses_a_graph_break() -> None:
    with pytest.raises(torch._dynamo.exc.Unsupported):
        compiled(breaks, fullgraph=True)(torch.ones(3))


# Dynamo itself reads `.grad` of a non-leaf argument where a graph breaks.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_gradient_through_a_graph_break_that_depends_on_data() -> None:
    def use(x: Tensor) -> Tensor:
        y = x.exp()
        if y.sum() > 1:
            return y * 2
        return y * 3

    for start in (1.0, -9.0):
        check_parity(use, torch.full((3,), start, requires_grad=True), grad=True)


def test_print_in_the_middle(capsys: pytest.CaptureFixture[str]) -> None:
    def use(x: Tensor) -> Tensor:
        y = x + 1
        print("sum", y.sum().item())
        return y * 2

    assert compiled(use)(torch.zeros(2)).tolist() == [2.0, 2.0]
    assert capsys.readouterr().out == "sum 2.0\n"


def test_part_kept_out_with_disable() -> None:
    def flip(x: Tensor) -> Tensor:
        assert not torch.compiler.is_compiling()
        return x.flip(0)

    eager = torch.compiler.disable(flip)
    check_parity(lambda x: eager(x * 2) + 1, torch.randn(3))


def test_whole_function_disabled_or_forced_to_eager() -> None:
    def eager(x: Tensor) -> Tensor:
        assert not torch.compiler.is_compiling()
        return x + 1

    assert compiled(torch.compiler.disable(eager))(torch.ones(1)).item() == 2
    before = graph_count()
    with torch.compiler.set_stance("force_eager"):
        assert compiled(lambda x: x + 1)(torch.ones(1)).item() == 2
    assert compiled(lambda x: x + 1, disable=True)(torch.ones(1)).item() == 2
    assert graph_count() == before


def test_compiled_function_inside_a_compiled_function() -> None:
    inner = compiled(lambda x: x * 3)
    check_parity(lambda x: inner(x + 1) - 1, torch.randn(3))


def test_reset_compiles_anew_and_gives_the_same() -> None:
    function = compiled(lambda x: x.sin())
    x = torch.randn(3)
    first = function(x)
    before = graph_count()
    torch._dynamo.reset()
    assert torch.equal(function(x), first)
    assert graph_count() == before + 1


def test_exception_of_the_user_passes_through_and_the_next_call_works() -> None:
    def use(x: Tensor, fail: bool) -> Tensor:
        if fail:
            raise KeyError("the user's own")
        return x + 1

    function = compiled(use)
    with pytest.raises(KeyError, match="the user's own"):
        function(torch.ones(1), True)
    assert function(torch.ones(1), False).item() == 2


def test_shape_mismatch_is_an_error_as_in_eager() -> None:
    with pytest.raises(RuntimeError, match=r"size|shape"):
        compiled(torch.matmul)(torch.ones(2, 3), torch.ones(2, 3))


@neuron_only
def test_both_names_are_listed_and_lead_to_the_same_function() -> None:
    from torch._dynamo.backends.registry import lookup_backend

    assert {"neuron", "neuron_compile"} <= set(torch.compiler.list_backends())
    assert lookup_backend("neuron") is lookup_backend("neuron_compile")
    assert lookup_backend("neuron").__name__ == "neuron"


@neuron_only
def test_function_object_as_backend() -> None:
    from neuron_compile import neuron

    function = torch.compile(lambda x: x + 1, backend=neuron, dynamic=False)
    assert function(torch.ones(2)).tolist() == [2.0, 2.0]


@neuron_only
def test_default_backend() -> None:
    program = (
        "import torch; torch.compiler.set_default_backend('neuron')\n"
        "print(torch.compile(lambda x: x * 2, dynamic=False)(torch.ones(2)).tolist())\n"
        "print(torch._dynamo.utils.counters['neuron']['graphs'])\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.split("\n")[:2] == ["[2.0, 2.0]", "1"], run.stderr


@neuron_only
def test_mode_other_than_the_default_warns_once() -> None:
    from neuron_compile import NeuronCompileWarning

    def use(function: Any) -> None:
        assert function(torch.ones(2)).tolist() == [2.0, 2.0]

    with pytest.warns(NeuronCompileWarning, match="as-fast-as-can-be") as caught:
        use(compiled(lambda x: x * 2, mode="as-fast-as-can-be"))
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        use(compiled(lambda x: x + x, mode="as-fast-as-can-be"))
        use(compiled(lambda x: x + 1, mode="default"))
