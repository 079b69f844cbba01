"""Branches, loops and nested regions: as in eager, trained, and with the errors of eager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as annotated_map
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.utils.checkpoint import checkpoint

import neuron_compile
from neuron_compile import DynamicShapesError, NeuronCompileWarning, UnsupportedOpError
from parity import check_parity, compile_error, compiled, neuron_only, raises_like_eager
from training_parity import train_parity

# Its annotation is of functions of a tuple.
torch_map: Any = annotated_map

# Eager runs these operators through Dynamo, which looks at the gradients of what it is given.
pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")


def tensor(*shape: int, seed: int = 0, grad: bool = False) -> Tensor:
    drawn = torch.randn(*shape, generator=torch.Generator().manual_seed(seed))
    return drawn.requires_grad_(grad)


def start() -> Tensor:
    return torch.zeros((), dtype=torch.int64)


# What is trained.


class Cond(nn.Module):
    """A mixture of two experts: the data choose."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Any:
        def first(x: Tensor) -> Any:
            return self.left(x).relu()

        def second(x: Tensor) -> Any:
            return self.right(x).tanh() - x

        y = torch.cond(x.sum() > 0, first, second, (x,))
        return torch.cond(y.mean() > self.left.bias.sum(), second, first, (y,))


class While(nn.Module):
    """A layer applied until a bound of steps or of the norm is reached.

    There is one before the loop, too: the gradient of eager is wrong where what is carried has none
    at the start.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first, self.layer = nn.Linear(4, 4), nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Any:
        def go_on(step: Tensor, x: Tensor) -> Tensor:
            return (step < 5) & (x.square().sum() < 1e4)

        def body(step: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return step + 1, self.layer(x).sin() * self.scale + x

        return while_loop(go_on, body, (start(), self.first(x)))[1]


class Scan(nn.Module):
    """A recurrent cell."""

    def __init__(self) -> None:
        super().__init__()
        self.input, self.state = nn.Linear(4, 3), nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Any:
        def step(state: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            state = (self.input(x) + self.state(state)).tanh()
            return state, state * 2

        last, states = scan(step, x.new_zeros(3), x, dim=0)
        return states + last


class ReverseScan(Scan):
    """The same from the end."""

    def forward(self, x: Tensor) -> Any:
        def step(state: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            state = (self.input(x) * state).sigmoid()
            return state, state + 1

        return scan(step, x.new_ones(3), x, dim=0, reverse=True)[1]


class AssociativeScan(nn.Module):
    """A linear recurrence."""

    def __init__(self) -> None:
        super().__init__()
        self.decay, self.input = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Any:
        def combine(first: Any, second: Any) -> Any:
            return first[0] * second[0], first[1] * second[0] + second[1]

        pair = (self.decay(x).sigmoid(), self.input(x))
        return associative_scan(combine, pair, dim=0, combine_mode="generic")[1]


class Map(nn.Module):
    """A layer applied to one row after the other."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)

    def forward(self, x: Tensor) -> Any:
        return torch_map(lambda row: self.norm(self.layer(row)).softmax(-1), x)


class Checkpoint(nn.Module):
    """Activations that are computed twice."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x: Tensor) -> Any:
        for layer in self.layers:
            x = checkpoint(lambda x, layer=layer: layer(x).relu() + x, x, use_reentrant=False)
        return x


class Nested(nn.Module):
    """One region for all layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x: Tensor) -> Any:
        @torch.compiler.nested_compile_region
        def block(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
            return (x @ weight.t() + bias).sin()

        for layer in self.layers:
            x = block(x, layer.weight, layer.bias)
        return x


class CondInWhile(While):
    """A branch in each step of a loop."""

    def forward(self, x: Tensor) -> Any:
        def body(step: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            moved = torch.cond(
                x.sum() > 0, lambda x: self.layer(x) - 1, lambda x: x * self.scale + 1, (x,)
            )
            return step + 1, moved

        return while_loop(lambda step, x: step < 4, body, (start(), self.first(x)))[1]


class NestedInCond(nn.Module):
    """A region inside of branches."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.first = nn.LayerNorm(4), nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Any:
        @torch.compiler.nested_compile_region
        def block(x: Tensor) -> Tensor:
            return nn.functional.gelu(self.norm(x)) + x

        x = self.first(x)
        return torch.cond(x.sum() > 0, lambda x: block(x) * 2, lambda x: block(x) - x, (x,))


MODULES = (
    Cond,
    While,
    Scan,
    ReverseScan,
    AssociativeScan,
    Map,
    Checkpoint,
    Nested,
    CondInWhile,
    NestedInCond,
)


COMBINED = (ReverseScan, CondInWhile, NestedInCond)


@pytest.mark.parametrize(
    "module",
    [
        pytest.param(module, id=module.__name__, marks=[pytest.mark.slow] * (module in COMBINED))
        for module in MODULES
    ],
)
def test_it_trains_as_in_eager(module: Callable[[], nn.Module]) -> None:
    torch.manual_seed(0)
    target = tensor(6, 1, seed=2)
    train_parity(
        module(),
        tensor(6, 4, seed=1),
        loss=lambda model, x: (model(x) - target).square().mean(),
        steps=4,
    )


# Branches.


@pytest.mark.parametrize("sign", [1, -1])
def test_the_taken_branch_counts_and_both_operands_have_gradients(sign: int) -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda x, y: x * 2, lambda x, y: x * y, (x, y))

    x = (tensor(3, 4).abs() * sign).requires_grad_()
    check_parity(function, x, tensor(3, 4, seed=1, grad=True), grad=True)


def test_predicates_of_one_element_and_integer_results() -> None:
    def function(x: Tensor) -> Any:
        positive = (x.sum() > 0).reshape(1)
        return torch.cond(
            positive, lambda x: (x + 1, x.argmax()), lambda x: (x - 1, x.argmin()), (x,)
        )

    for seed in range(3):
        check_parity(function, tensor(5, seed=seed), calls=1)


def test_branch_results_that_are_views_of_what_is_computed() -> None:
    def function(x: Tensor) -> Any:
        return torch.cond(
            x.sum() > 0,
            lambda x: (x.sin().squeeze(0).t(), x.exp().select(0, 0)),
            lambda x: (x.cos().squeeze().t(), x.cos().select(0, 0)),
            (x,),
        )

    check_parity(function, tensor(1, 3, 4, grad=True), grad=True)


def test_operands_that_are_not_contiguous() -> None:
    def function(x: Tensor) -> Any:
        y = x.transpose(0, 2)[::2]
        return torch.cond(
            x.sum() > 0,
            lambda y: y @ y.transpose(1, 2),
            lambda y: y.exp() @ y.transpose(1, 2),
            (y,),
        )

    # With gradients PyTorch wants equal strides of both branches'.
    check_parity(function, tensor(3, 4, 5))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.int32, torch.uint8])
def test_dtypes(dtype: torch.dtype) -> None:
    def function(x: Tensor) -> Any:
        def body(step: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return step + 1, torch.cond(x.sum() > 20, lambda x: x * 2, lambda x: x + 3, (x,))

        return while_loop(lambda step, x: step < 3, body, (start(), x))

    check_parity(function, torch.arange(12).reshape(3, 4).to(dtype))


@neuron_only
def test_float64_is_computed_in_float32_inside_too() -> None:
    def function(x: Tensor) -> Any:
        y = torch.cond(x.sum() > 0, lambda x: x.double().sin(), lambda x: x.double(), (x,))
        return while_loop(lambda y: y.sum() < 100, lambda y: (y * 1.5 + 1,), (y,))[0]

    x = tensor(3, 4)
    with pytest.warns(match="computes in float32 what was written in float64"):
        result = compiled(function)(x)
    torch.testing.assert_close(result, function(x), rtol=1e-5, atol=1e-5)


# Loops.


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_a_loop_has_as_many_steps_as_the_data_say(steps: int) -> None:
    def function(x: Tensor, limit: Tensor) -> Any:
        def body(step: Tensor, x: Tensor, seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            return step + 1, x * 1.5 - 1, torch.maximum(seen, x.sum())

        return while_loop(lambda step, *_: step < limit, body, (start(), x, x.sum().clone()))

    check_parity(function, tensor(3, 4), torch.tensor(steps))


@pytest.mark.parametrize(
    "steps", [0, 3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 128, 129, 300))]
)
def test_gradient_of_a_loop_whose_length_is_data(steps: int) -> None:
    def function(x: Tensor, weight: Tensor, limit: Tensor) -> Any:
        def body(step: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return step + 1, (x @ weight).sin() * 0.5 + x * 0.9

        return while_loop(lambda step, _: step < limit, body, (start(), x))[1]

    def unrolled(x: Tensor, weight: Tensor) -> Tensor:
        for _ in range(steps):
            x = (x @ weight).sin() * 0.5 + x * 0.9
        return x

    given = [tensor(3, 3, grad=True), tensor(3, 3, seed=1, grad=True)]
    result = compiled(function)(*given, torch.tensor(steps))
    found = torch.autograd.grad(result.square().sum(), given)
    expected = torch.autograd.grad(
        unrolled(*given).square().sum(), given, allow_unused=True, materialize_grads=True
    )
    torch.testing.assert_close(result, unrolled(*given), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)


def test_gradient_through_a_carried_value_that_has_none_at_the_start() -> None:
    def function(x: Tensor) -> Any:
        def body(step: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
            return step + 1, total * total + x.sin()

        return while_loop(lambda step, _: step < 3, body, (start(), torch.zeros(4)))[1]

    def unrolled(x: Tensor) -> Tensor:
        total = torch.zeros(4)
        for _ in range(3):
            total = total * total + x.sin()
        return total

    x = tensor(4, grad=True)
    found = torch.autograd.grad(compiled(function)(x).sum(), x)
    torch.testing.assert_close(found, torch.autograd.grad(unrolled(x).sum(), x))


def test_a_loop_in_a_loop() -> None:
    def function(x: Tensor) -> Any:
        def inner(step: Tensor, x: Tensor, outer: Tensor) -> tuple[Tensor, Tensor, Tensor]:
            return step + 1, x + outer, outer.clone()

        def body(step: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            carried = (start(), x, step.clone())
            return step + 1, while_loop(lambda k, _, outer: k < outer, inner, carried)[1]

        return while_loop(lambda step, _: step < 4, body, (start(), x))[1]

    check_parity(function, tensor(3))


@pytest.mark.slow
@pytest.mark.parametrize("grad", [False, True])
def test_sizes_that_dynamo_leaves_open(grad: bool) -> None:
    def function(x: Tensor) -> Any:
        size = x.shape[0]
        y = torch.cond(x.sum() > 0, lambda x: x * size, lambda x: x - size, (x,))
        y = scan(lambda c, y: (c + y, c * y + size), torch.zeros(3), y)[1]
        return while_loop(lambda i, _: i < size, lambda i, y: (i + 1, y * 1.5), (start(), y))[1]

    compiled_once = compiled(function, dynamic=None)
    for size in (2, 5, 7):
        ours, theirs = (tensor(size, 3, seed=size, grad=grad) for _ in range(2))
        found, expected = compiled_once(ours), function(theirs)
        torch.testing.assert_close(found, expected)
        if grad:
            found.sum().backward()
            expected.sum().backward()
            torch.testing.assert_close(ours.grad, theirs.grad)


# Scans.


def test_several_carried_values_and_inputs_of_several_types() -> None:
    def function(x: Tensor, n: Tensor) -> Any:
        def step(carried: Any, given: Any) -> Any:
            (total, count), (x, n) = carried, given
            return [total * 0.5 + x, count + n], {"sum": total + x, "count": count * 2}

        start_values = [torch.zeros(2, 3), torch.zeros(3, dtype=torch.int64)]
        return scan(step, start_values, [x, n], dim=0)

    check_parity(function, tensor(5, 2, 3), torch.arange(15).reshape(5, 3))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [1, 4])
def test_scan_over_a_dimension_of_a_permuted_tensor(length: int, reverse: bool) -> None:
    def function(x: Tensor) -> Any:
        def step(total: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return total.cos() + x, total * x

        return scan(step, torch.ones(3, 2), x.permute(2, 0, 1), dim=0, reverse=reverse)

    check_parity(function, tensor(3, 2, length, grad=True), grad=True)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "length", [1, 7, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 8))]
)
def test_associative_scan(length: int, reverse: bool) -> None:
    def function(x: Tensor) -> Any:
        return associative_scan(
            lambda a, b: a * b + a, x, dim=1, reverse=reverse, combine_mode="generic"
        )

    check_parity(function, tensor(3, length, grad=True), grad=True)


def test_map_with_several_results_and_operators_of_the_library() -> None:
    def function(x: Tensor, y: Tensor) -> Any:
        return torch_map(lambda x, y: (x.sort()[0].cumsum(0), (x * y).sum()), x, y)

    check_parity(function, tensor(3, 5, grad=True), tensor(5, seed=1, grad=True), grad=True)


def test_nothing_to_iterate_over_is_refused_as_in_eager() -> None:
    def scanned(x: Tensor) -> Any:
        return scan(lambda c, x: (c + x, c * x), torch.zeros(3), x, dim=0)

    raises_like_eager(scanned, tensor(0, 3))
    raises_like_eager(lambda x: torch_map(lambda row: row + 1, x), tensor(0, 3))


# Errors and random numbers.


@neuron_only
def test_an_index_out_of_range_raises_if_it_is_reached() -> None:
    def branch(x: Tensor, index: Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda x, i: x[i], lambda x, i: x[i * 0], (x, index))

    function = compiled(branch)
    x, index = tensor(4, 3).abs(), torch.tensor([1, 4])
    torch.testing.assert_close(function(-x, index), branch(-x, index))
    with pytest.raises(IndexError, match="out of bounds for dimension 0 with size 4"):
        function(x, index)


@neuron_only
@pytest.mark.parametrize("place", ["step", "condition", "map"])
def test_an_index_out_of_range_raises_whichever_step_it_is_in(place: str) -> None:
    def function(x: Tensor, index: Tensor) -> Any:
        if place == "map":
            return torch_map(lambda i: x[i.reshape(1)], index)

        def looked_up(step: Tensor) -> Tensor:
            return x[index.index_select(0, step.reshape(1))]

        def go_on(step: Tensor, total: Tensor) -> Tensor:
            limit = 1 - looked_up(step).sum() * 0 if place == "condition" else 1
            return (step < 4) & (step * 0 < limit)

        def body(step: Tensor, total: Tensor) -> tuple[Tensor, Tensor]:
            return step + 1, total + (looked_up(step).sum() if place == "step" else 1)

        return while_loop(go_on, body, (start(), torch.zeros(())))[1]

    x, right = tensor(4, 3), torch.tensor([1, 3, 0, 2, 1])
    wrong = torch.tensor([1, 3, 4, 2, 1])
    code = compiled(function)
    torch.testing.assert_close(code(x, right), function(x, right))
    with pytest.raises(IndexError, match="is out of bounds"):
        code(x, wrong)


@neuron_only
def test_random_numbers_in_a_branch_or_a_step_are_refused_with_their_line() -> None:
    def function(x: Tensor) -> Any:
        return torch_map(lambda row: row + torch.rand_like(row), x)

    with pytest.raises(Exception, match="rand_like") as raised:
        compiled(function)(tensor(3, 4))
    (operation,) = compile_error(raised, UnsupportedOpError).operations
    assert operation.source is not None
    assert "torch.rand_like(row)" in operation.source.text
    assert "Draw them outside" in operation.reason


@neuron_only
def test_each_call_of_a_nested_region_draws_its_own_numbers_and_keeps_them() -> None:
    @torch.compiler.nested_compile_region
    def drop(x: Tensor) -> Tensor:
        return nn.functional.dropout(x, 0.5)

    function = compiled(lambda x: (drop(x), drop(x)))
    x = torch.ones(1000, requires_grad=True)
    first, second = function(x)
    for result in (first, second):
        assert 400 < (result == 0).sum() < 600
    assert 400 < (first != second).sum() < 600
    (gradient,) = torch.autograd.grad((first + 10 * second).sum(), x)
    torch.testing.assert_close(gradient, (first + 10 * second).detach())


@neuron_only
def test_loops_over_numbers_of_python_are_refused_by_name() -> None:
    def function(x: Tensor) -> Any:
        return while_loop(lambda step, _: step < 3, lambda step, x: (step + 1, x + step), (0, x))

    with pytest.raises(Exception, match="depends on data") as raised:
        compiled(function)(tensor(3))
    error = compile_error(raised, DynamicShapesError)
    assert error.where[0].startswith("while_loop   ")
    assert "carry tensors without dimensions" in error.hint


# Operations that nothing can lower, inside.


@pytest.fixture
def unknown() -> Iterator[Any]:
    """Operators that no lowering can know, since they are made here."""
    name = "neuron_control_flow_tests"
    with torch.library._scoped_library(name, "FRAGMENT") as library:
        for operator, rule in (("cube", lambda x: x**3), ("negate", lambda x: -x)):
            library.define(f"{operator}(Tensor x) -> Tensor")
            library.impl(operator, rule, "CompositeExplicitAutograd")
            torch.library.register_fake(f"{name}::{operator}", torch.empty_like, lib=library)
        yield getattr(torch.ops, name)


def with_unknown(unknown: Any) -> Callable[[Tensor], Any]:
    def function(x: Tensor) -> Any:
        def body(step: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return step + 1, torch.cond(
                x.sum() > 0,
                lambda x: unknown.negate(x) - 1,
                lambda x: unknown.cube(x) + 2,
                (x,),
            )

        return while_loop(lambda step, _: step < 3, body, (start(), x.sin()))[1] * 2

    return function


@neuron_only
def test_all_of_them_are_named_with_their_lines(unknown: Any) -> None:
    with pytest.raises(Exception, match="2 operations cannot be compiled") as raised:
        compiled(with_unknown(unknown))(tensor(4))
    operations = compile_error(raised, UnsupportedOpError).operations
    lines = [operation.source.text for operation in operations if operation.source]
    assert sorted(lines) == [
        "lambda x: unknown.cube(x) + 2,",
        "lambda x: unknown.negate(x) - 1,",
    ]


@neuron_only
def test_the_whole_construct_runs_in_eager_where_that_is_asked_for(unknown: Any) -> None:
    function = with_unknown(unknown)
    with pytest.warns(NeuronCompileWarning, match="in eager PyTorch"):
        result = compiled(function, options={"fallback": "eager"})(tensor(4))
    torch.testing.assert_close(result, function(tensor(4)))


@neuron_only
def test_they_are_explained(unknown: Any) -> None:
    found = neuron_compile.explain(with_unknown(unknown), tensor(4))
    assert not found.is_ok
    (graph,) = found.graphs
    assert {failure.operator.partition(".")[2] for failure in graph.failures} == {
        "cube.default",
        "negate.default",
    }
    routes = {operation.operator: operation.routes for operation in graph.operations}
    assert routes["while_loop"] == ("none",)
    assert "none" not in routes["aten.sin.default"]
