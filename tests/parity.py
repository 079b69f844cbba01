"""Eager against compiled: the one comparison that every end-to-end test shares.

`check_parity` runs a function or module on copies of the same arguments, eagerly and through
`torch.compile`, and compares all that a caller can observe. The backend under test is named by
`NEURON_TEST_BACKEND`; with `aot_eager` the tests check themselves, since nothing is lowered there.
"""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from neuron_compile import NeuronCompileError

BACKEND = os.environ.get("NEURON_TEST_BACKEND", "neuron")

neuron_only = pytest.mark.skipif(
    BACKEND != "neuron",
    reason="is about the neuron backend's own errors, options or random numbers",
)

ErrorT = TypeVar("ErrorT", bound="NeuronCompileError")


def compiled(subject: Any, **settings: Any) -> Any:
    """`torch.compile` with the backend under test; static shapes unless `settings` differ."""
    return torch.compile(subject, **{"backend": BACKEND, "dynamic": False, **settings})


def compile_error(raised: pytest.ExceptionInfo[BaseException], kind: type[ErrorT]) -> ErrorT:
    """The error of class `kind` in what `torch.compile` raised, however deep Dynamo wrapped it."""
    pending: list[BaseException | None] = [raised.value]
    seen: set[int] = set()
    while pending:
        error = pending.pop(0)
        if error is None or id(error) in seen:
            continue
        if isinstance(error, kind):
            return error
        seen.add(id(error))
        pending += [getattr(error, "inner_exception", None), error.__cause__, error.__context__]
    pytest.fail(f"no {kind.__name__} in what was raised: {raised.value!r}")


def flatten(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every container's type and every leaf, each with its path."""
    if isinstance(value, Mapping):
        yield path, (type(value), list(value))
        for key, item in value.items():
            yield from flatten(item, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        yield path, (type(value), len(value))
        for index, item in enumerate(value):
            yield from flatten(item, f"{path}[{index}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield path, type(value)
        for field in dataclasses.fields(value):
            yield from flatten(getattr(value, field.name), f"{path}.{field.name}")
    else:
        yield path, value


def overlaps(first: Tensor, second: Tensor) -> bool:
    """Whether the two storages have a byte in common, be they one storage object or two."""
    one, two = first.untyped_storage(), second.untyped_storage()
    return (
        one.data_ptr() < two.data_ptr() + two.nbytes()
        and two.data_ptr() < one.data_ptr() + one.nbytes()
        and min(one.nbytes(), two.nbytes()) > 0
    )


@dataclasses.dataclass
class Run:
    """One side of the comparison: what went in, what came out of each call."""

    subject: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outputs: list[Any] = dataclasses.field(default_factory=list)

    def visible(self) -> list[tuple[str, Any]]:
        """Everything the caller can see afterwards: arguments, results, and the module's state."""
        found = [*flatten(self.args, "argument"), *flatten(self.kwargs, "keyword argument")]
        found += flatten(self.outputs, "call")
        if isinstance(self.subject, nn.Module):
            found += [(f"parameter {n}", p) for n, p in self.subject.named_parameters()]
            found += [(f"buffer {n}", b) for n, b in self.subject.named_buffers()]
        return found

    def tensors(self) -> list[tuple[str, Tensor]]:
        return [(name, leaf) for name, leaf in self.visible() if isinstance(leaf, Tensor)]

    def call(self, function: Any, *, grad: bool) -> None:
        torch.manual_seed(20)
        output = function(*self.args, **self.kwargs)
        if grad:
            backward(output)
        self.outputs.append(output)


def backward(output: Any) -> None:
    """Backward from every differentiable tensor of `output`, with the same cotangents each time."""
    generator = torch.Generator().manual_seed(21)
    roots = [leaf for _, leaf in flatten(output) if isinstance(leaf, Tensor) and leaf.requires_grad]
    assert roots, "nothing to differentiate"
    cotangents = [torch.randn(r.shape, generator=generator).to(r.dtype) for r in roots]
    torch.autograd.backward(roots, cotangents)


def strides(tensor: Tensor) -> list[int]:
    """The strides that address elements: of a dimension with one element any will do."""
    return [step for size, step in zip(tensor.shape, tensor.stride(), strict=True) if size > 1]


def assert_same_value(name: str, expected: Any, actual: Any, bound: float | None) -> None:
    if not isinstance(expected, Tensor):
        assert type(actual) is type(expected), f"{name}: {actual!r}, expected {expected!r}"
        assert actual == expected, f"{name}: {actual!r}, expected {expected!r}"
        return
    torch.testing.assert_close(
        actual.detach(),
        expected.detach(),
        rtol=bound,
        atol=bound,
        equal_nan=True,
        check_stride=False,
        msg=lambda text: f"{name}: {text}",
    )
    if expected.numel():
        assert strides(actual) == strides(expected), f"{name}: strides"
    assert actual.requires_grad == expected.requires_grad, f"{name}: requires_grad"
    assert actual.is_leaf == expected.is_leaf, f"{name}: is_leaf"
    assert actual.is_inference() == expected.is_inference(), f"{name}: is_inference"


def assert_same_gradient(name: str, expected: Tensor, actual: Tensor, bound: float | None) -> None:
    assert (actual.grad is None) == (expected.grad is None), f"{name}: gradient None on one side"
    if expected.grad is not None:
        assert_same_value(f"gradient of {name}", expected.grad, actual.grad, bound)


def assert_same_sharing(
    expected: list[tuple[str, Tensor]], actual: list[tuple[str, Tensor]]
) -> None:
    """Memory is shared, and objects are identical, between the same pairs on both sides."""
    for i, (name, tensor) in enumerate(expected):
        for j in range(i):
            pair = f"{name} and {expected[j][0]}"
            shared = overlaps(tensor, expected[j][1])
            assert overlaps(actual[i][1], actual[j][1]) == shared, (
                f"{pair}: memory shared, {shared} in eager"
            )
            same = tensor is expected[j][1]
            assert (actual[i][1] is actual[j][1]) == same, f"{pair}: one object, {same} in eager"


def check_parity(
    subject: Any,
    *args: Any,
    grad: bool = False,
    calls: int = 2,
    inputs: Callable[[], tuple[Any, ...]] | None = None,
    settings: Mapping[str, Any] | None = None,
    bound: float | None = None,
    **kwargs: Any,
) -> None:
    """Assert that `subject` behaves compiled as in eager, over `calls` calls on the same arguments.

    Compared after the last call: every result of every call (so one that a later call overwrote is
    seen), every argument, parameter and buffer, each by value, dtype, shape, stride and autograd
    flags; which of them share memory; with `grad`, every gradient, `None` included. `inputs` makes
    the arguments when copies of them would not do, such as views that require grad. `bound` is
    the relative and the absolute one; by default those of `torch.testing.assert_close` hold.
    """
    runs = []
    for _ in range(2):
        twin, own, named = copy.deepcopy((subject, args if inputs is None else (), kwargs))
        runs.append(Run(twin, own if inputs is None else inputs(), named))
    eager, other = runs
    for run in runs:
        for _, tensor in run.tensors():
            if tensor.requires_grad and not tensor.is_leaf:
                tensor.retain_grad()
    function = compiled(other.subject, **(settings or {}))
    for _ in range(calls):
        eager.call(eager.subject, grad=grad)
        other.call(function, grad=grad)
    for (name, expected), (_, actual) in zip(eager.visible(), other.visible(), strict=True):
        assert_same_value(name, expected, actual, bound)
    assert_same_sharing(eager.tensors(), other.tensors())
    for (name, expected), (_, actual) in zip(eager.tensors(), other.tensors(), strict=True):
        if grad and expected.requires_grad and (expected.is_leaf or expected.retains_grad):
            assert_same_gradient(name, expected, actual, bound)


def raises_like_eager(function: Callable[..., Any], *args: Any) -> None:
    """Assert that `function` raises compiled what it raises in eager: the same class.

    So neither a silent result passes, nor an operator that is refused for lack of a lowering.
    """
    with pytest.raises(Exception) as eager:
        function(*copy.deepcopy(args))
    with pytest.raises(Exception) as other:
        compiled(function)(*copy.deepcopy(args))
    assert other.type is eager.type, f"{other.value!r}, in eager {eager.value!r}"
