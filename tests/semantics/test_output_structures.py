"""What a compiled function may return: any structure, with or without tensors in it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn

from parity import check_parity, compiled
from semantics.case_names import source_text

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass
class Prediction:
    logits: Tensor
    hidden: Tensor | None = None
    name: str = "prediction"


class Pair(NamedTuple):
    first: Tensor
    second: int


@pytest.mark.parametrize(
    "function",
    [
        lambda x: None,
        lambda x: 7,
        lambda x: (x + 1, None),
        lambda x: (None, None, x.sum()),
        lambda x: (x + 1, None, x.shape[0] - 1 > 0, (x.sum(), {"k": [x]})),
        lambda x: {"a": x * 2, "b": {"c": (x,), "d": "text"}},
        lambda x: OrderedDict(first=x + 1, second=2.5),
        lambda x: [x.sin(), [x.cos(), (x.tan(),)]],
        lambda x: Prediction(x * 2),
        lambda x: Prediction(x, hidden=x + 1, name="other"),
        lambda x: Pair(x + 1, x.dim()),
        lambda x: (x.shape, x.size(1), x.dtype, x.device),
        lambda x: (x.max(0), x.sum() > 0),
        lambda x: (True, False, 1, 1.5, "s", x.relu()),
        lambda x: (),
        lambda x: [],
        lambda x: (torch.zeros(2), x),
        lambda x: (torch.tensor(3), torch.tensor([1, 2]), torch.empty(0)),
        lambda x: x[:0, :0],
        lambda x: (x.sum(), x[0, 0], x.new_tensor(4.0), x.mean().reshape(1)),
    ],
    ids=source_text,
)
def test_structure(function: Callable[[Tensor], Any]) -> None:
    check_parity(function, torch.randn(2, 3))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: {"loss": x.sum(), "logits": x * 2, "aux": None},
        lambda x: Prediction(x.exp(), hidden=x.detach() + 1),
        lambda x: (x.sum(), x.argmax(), x > 0, x.long(), x.exp()),
        lambda x: (x * 2, [x.mean(), None, 3]),
        lambda x: (x, x + 1),
    ],
    ids=source_text,
)
def test_structure_with_gradient(function: Callable[[Tensor], Any]) -> None:
    check_parity(function, torch.randn(2, 3, requires_grad=True), grad=True)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 3)])
def test_empty_in_empty_out(shape: tuple[int, ...]) -> None:
    x = torch.randn(*shape, requires_grad=True)
    check_parity(lambda t: (t * 2, t.sum(), t.prod(), torch.cat([t, t])), x, grad=True)


def test_linear_layer_on_an_empty_batch() -> None:
    check_parity(nn.Linear(4, 3), torch.randn(1, 0, 4, requires_grad=True), grad=True)


def test_mean_of_nothing_is_nan() -> None:
    check_parity(lambda x: (x.mean(), x.sum(0), torch.cat([x, x + 1])), torch.empty(0, 3))


def test_zero_dimensional_arguments_and_results() -> None:
    def use(a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
        return a * b, a + 1, torch.stack([a, b]), a.unsqueeze(0)

    check_parity(use, torch.tensor(2.0, requires_grad=True), torch.tensor(3.0), grad=True)


def test_function_without_arguments() -> None:
    function = compiled(lambda: torch.ones(2, 3) * 2)
    assert torch.equal(function(), torch.full((2, 3), 2.0))
    assert torch.equal(function(), torch.full((2, 3), 2.0))


def test_identity_module() -> None:
    check_parity(nn.Identity(), torch.randn(2))


def test_arguments_in_any_structure() -> None:
    def use(batch: dict[str, Any], *rest: Tensor, scale: float = 1.0, **more: Any) -> Any:
        return batch["x"][0] * scale + sum(rest), more["mask"] & batch["mask"], batch["name"]

    batch = {"x": [torch.randn(3)], "mask": torch.tensor([True, False, True]), "name": "n"}
    check_parity(use, batch, torch.ones(3), torch.ones(3), scale=2.0, mask=torch.tensor(True))


def test_unused_arguments_of_every_kind() -> None:
    def use(x: Tensor, unused: Tensor, none: None, text: str) -> Tensor:
        return x + 1

    x, unused = (torch.randn(2, requires_grad=True) for _ in range(2))
    check_parity(use, x, unused, None, "text", grad=True)


def test_unused_parameters_get_no_gradient() -> None:
    class TwoHeads(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(3, 3), nn.Linear(3, 3)

        def forward(self, x: Tensor) -> tuple[Any, ...]:
            return self.used(x), self.used(x).relu(), None, 7

    module = TwoHeads()
    logits, rectified, none, number = compiled(module)(torch.randn(2, 3))
    logits.sum().backward()
    assert module.unused.weight.grad is None
    assert module.used.weight.grad is not None
    assert none is None
    assert number == 7
    assert rectified.requires_grad
    check_parity(TwoHeads(), torch.randn(2, 3), grad=True)
