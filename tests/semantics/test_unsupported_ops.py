"""Operations without a lowering: all reported at once with the user's lines, or run in eager."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from parity import compile_error, compiled, neuron_only

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = neuron_only

# Operators that no lowering can know, since they are made here.
LIBRARY = "neuron_compile_tests"


@pytest.fixture(autouse=True, scope="module")
def operators() -> Iterator[None]:
    with torch.library._scoped_library(LIBRARY, "FRAGMENT") as library:
        for name, call in (("cube", lambda x: x**3), ("negate", lambda x: -x)):
            library.define(f"{name}(Tensor x) -> Tensor")
            library.impl(name, call, "CompositeExplicitAutograd")
            torch.library.register_fake(f"{LIBRARY}::{name}", torch.empty_like, lib=library)

        def save(ctx: Any, inputs: tuple[Tensor], output: Tensor) -> None:
            ctx.save_for_backward(*inputs)

        def gradient(ctx: Any, cotangent: Tensor) -> Any:
            (x,) = ctx.saved_tensors
            return -negate(cotangent) * 3 * x * x

        torch.library.register_autograd(
            f"{LIBRARY}::cube", gradient, setup_context=save, lib=library
        )
        yield


def cube(x: Tensor) -> Any:
    return torch.ops.neuron_compile_tests.cube(x)


def negate(x: Tensor) -> Any:
    return torch.ops.neuron_compile_tests.negate(x)


def three_at_three_lines(x: Tensor) -> Any:
    a = torch.ops.neuron_compile_tests.cube(x)
    b = torch.sin(a) + 1
    c = torch.ops.neuron_compile_tests.negate(b)
    return torch.ops.neuron_compile_tests.cube(c)


def refusal(function: Any, *args: Any, **settings: Any) -> Any:
    from neuron_compile import UnsupportedOpError

    with pytest.raises(Exception) as raised:
        compiled(function, **settings)(*args)
    return compile_error(raised, UnsupportedOpError)


def test_all_operations_are_listed_with_file_line_and_source() -> None:
    error = refusal(three_at_three_lines, torch.ones(3))
    first = three_at_three_lines.__code__.co_firstlineno
    message = str(error)
    assert len(error.operations) == 3
    for offset, name, source in (
        (1, "cube", "a = torch.ops.neuron_compile_tests.cube(x)"),
        (3, "negate", "c = torch.ops.neuron_compile_tests.negate(b)"),
        (4, "cube", "return torch.ops.neuron_compile_tests.cube(c)"),
    ):
        assert f"{LIBRARY}.{name}" in message
        assert f"test_unsupported_ops.py:{first + offset}" in message
        assert source in message
    assert "sin" not in message.split("Why:")[0].replace(__file__, "")
    assert "3 operations" in message
    assert "Why:" in message
    assert "torch.compiler.disable" in message
    assert 'options={"fallback": "eager"}' in message


def test_operation_inside_a_module_names_the_line_in_its_forward() -> None:
    class Block(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return torch.ops.neuron_compile_tests.negate(x) * 2

    with torch.no_grad():
        error = refusal(nn.Sequential(nn.Linear(3, 3), Block()), torch.ones(2, 3))
    (operation,) = error.operations
    assert operation.source.line == Block.forward.__code__.co_firstlineno + 1
    assert operation.source.file.endswith("test_unsupported_ops.py")
    assert "negate(x) * 2" in operation.source.text


# Dynamo instantiates the autograd function.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_operation_of_the_backward_is_refused_as_well() -> None:
    from neuron_compile import UnsupportedOpError

    class OnlyBackward(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *cotangents: Tensor) -> Any:
            return negate(cotangents[0])

    with pytest.raises(Exception) as raised:  # noqa: PT012 - forward or backward may raise
        y = compiled(lambda x: OnlyBackward.apply(x))(torch.ones(3, requires_grad=True))  # type: ignore[no-untyped-call]
        y.sum().backward()
    (operation,) = compile_error(raised, UnsupportedOpError).operations
    assert "negate" in operation.operator


def test_refusal_prints_nothing_and_leaves_no_file(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(Path("/tmp").glob("*.mlir"))
    refusal(three_at_three_lines, torch.ones(3))
    captured = capfd.readouterr()
    assert captured.err == ""
    assert captured.out == ""
    assert set(Path("/tmp").glob("*.mlir")) <= before
    assert {p.name for p in tmp_path.iterdir()} <= {"neuron-cache", "torch-cache"}


def test_refused_function_is_refused_again() -> None:
    function = compiled(three_at_three_lines)
    for _ in range(2):
        with pytest.raises(Exception, match="cube"):
            function(torch.ones(3))


def test_disabled_operation_lets_the_rest_compile() -> None:
    apart = torch.compiler.disable(cube)
    function = compiled(lambda x: apart(x + 1).sin())
    x = torch.randn(3)
    torch.testing.assert_close(function(x), ((x + 1) ** 3).sin())


def test_fallback_gives_eagers_result_warns_once_and_is_reported() -> None:
    from neuron_compile import NeuronCompileWarning, report

    options = {"fallback": "eager", "model_name": "falls-back"}
    function = compiled(three_at_three_lines, options=options)
    x = torch.rand(3)
    with pytest.warns(NeuronCompileWarning, match="cube") as caught:
        y = function(x)
    assert len(caught) == 1
    torch.testing.assert_close(y, three_at_three_lines(x))
    torch.testing.assert_close(function(x + 1), three_at_three_lines(x + 1))
    notes = [note for row in report().graphs if row.model == "falls-back" for note in row.notes]
    assert any("cube" in note for note in notes)


@pytest.mark.filterwarnings("ignore::neuron_compile.NeuronCompileWarning")
def test_fallback_is_differentiated() -> None:
    function = compiled(lambda x: cube(x.exp()) * x, options={"fallback": "eager"})
    x = torch.tensor([0.1, 0.5], requires_grad=True)
    y = x.detach().requires_grad_()
    function(x).sum().backward()
    (y.exp() ** 3 * y).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)


@pytest.mark.filterwarnings("ignore::neuron_compile.NeuronCompileWarning")
def test_fallback_hides_no_other_error() -> None:
    from neuron_compile import DynamicShapesError

    function = compiled(lambda x: cube(x), options={"fallback": "eager"}, dynamic=True)
    with pytest.raises(Exception) as raised:
        function(torch.ones(3, 4))
    assert compile_error(raised, DynamicShapesError)


def test_fallback_does_not_warn_where_all_is_supported(recwarn: pytest.WarningsRecorder) -> None:
    function = compiled(lambda x: x.sin() * 2, options={"fallback": "eager"})
    assert function(torch.zeros(2)).tolist() == [0.0, 0.0]
    assert list(recwarn) == []


@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
@pytest.mark.parametrize("fallback", ["raise", "eager"])
def test_operations_that_different_stages_refuse_are_listed_together(fallback: str) -> None:
    from neuron_compile import NeuronCompileWarning

    def mixed(x: Tensor) -> tuple[Tensor, Tensor]:
        return negate(x), x.to(torch.complex32)

    x = torch.ones(3)
    if fallback == "raise":
        error = refusal(mixed, x)
        assert sorted(op.operator.split(".")[1] for op in error.operations) == [
            "_to_copy",
            "negate",
        ]
    else:
        with pytest.warns(NeuronCompileWarning, match="2 operations in eager PyTorch"):
            result, half = compiled(mixed, options={"fallback": "eager"})(x)
        assert torch.equal(result, negate(x))
        assert half.dtype == torch.complex32


def test_float64_that_is_to_be_refused_does_not_fall_back() -> None:
    from neuron_compile import UnsupportedOpError

    options = {"fallback": "eager", "float64": "error"}
    function = compiled(lambda x: x * 2, options=options)
    with pytest.raises(Exception, match="float64 is refused") as raised:
        function(torch.ones(3, dtype=torch.float64))
    assert "fallback" not in str(compile_error(raised, UnsupportedOpError))
