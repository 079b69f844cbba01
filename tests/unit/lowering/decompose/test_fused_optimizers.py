from __future__ import annotations

from typing import Any

import pytest
import torch

from neuron_compile.lowering.decompose.fused_optimizers import fused_optimizer_decompositions

RULES = fused_optimizer_decompositions()
SHAPES = [(3, 4), (5,)]
LR = 0.1


def tensors(dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    return [torch.randn(shape).to(dtype) for shape in SHAPES]


def squares(dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    return [tensor.square() for tensor in tensors(dtype)]


def steps(count: float = 3.0) -> list[torch.Tensor]:
    return [torch.tensor(count) for _ in SHAPES]


def check(name: str, *lists: Any, overload: Any = "default", **settings: Any) -> None:
    operator = getattr(getattr(torch.ops.aten, name), overload)
    expected = operator(*lists, **settings)
    actual = RULES[operator](*lists, **settings)
    assert len(actual) == len(expected)
    for found, wanted in zip(actual, expected, strict=True):
        torch.testing.assert_close(found, list(wanted))


ADAM: dict[str, Any] = {
    "beta1": 0.9,
    "beta2": 0.999,
    "eps": 1e-8,
    "weight_decay": 0.0,
    "amsgrad": False,
    "maximize": False,
}


@pytest.mark.parametrize("name", ["_fused_adam", "_fused_adamw"])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"weight_decay": 0.2, "maximize": True},
        {"amsgrad": True},
        {"beta1": 0.0, "beta2": 0.3},
        {"grad_scale": torch.tensor(4.0), "found_inf": torch.tensor(0.0)},
        {"grad_scale": torch.tensor(4.0), "found_inf": torch.tensor(1.0)},
    ],
)
def test_adam(name: str, changed: dict[str, Any]) -> None:
    settings = ADAM | changed
    largest = squares() if settings["amsgrad"] else []
    lists = (tensors(), tensors(), tensors(), squares(), largest)
    check(name, *lists, steps(), lr=LR, **settings)
    check(name, *lists, steps(1), lr=torch.tensor(LR), overload="tensor_lr", **settings)


def test_adam_keeps_low_precision_wide_within_a_step() -> None:
    dtype = torch.bfloat16
    lists = (tensors(dtype), tensors(dtype), tensors(dtype), squares(dtype))
    check("_fused_adamw", *lists, [], steps(), lr=LR, **ADAM)


def test_the_first_steps_of_adam_lose_no_digits() -> None:
    zero = [torch.zeros(1)]
    rule = RULES[torch.ops.aten._fused_adam.default]
    (moved,) = rule(zero, [torch.ones(1)], zero, zero, [], [torch.ones(())], lr=1.0, **ADAM)[0]
    assert moved.item() == pytest.approx(-1, abs=2e-6)


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("is_first_step", [False, True])
@pytest.mark.parametrize("maximize", [False, True])
def test_sgd_with_momentum(nesterov: bool, is_first_step: bool, maximize: bool) -> None:
    check(
        "_fused_sgd",
        *(tensors(), tensors(), tensors()),
        weight_decay=0.1,
        momentum=0.9,
        lr=LR,
        dampening=0.0 if nesterov else 0.3,
        nesterov=nesterov,
        maximize=maximize,
        is_first_step=is_first_step,
        grad_scale=torch.tensor(2.0),
    )


def test_sgd_without_momentum() -> None:
    check(
        "_fused_sgd",
        *(tensors(), tensors(), []),
        weight_decay=0.0,
        momentum=0.0,
        lr=torch.tensor(LR),
        dampening=0.0,
        nesterov=False,
        maximize=False,
        is_first_step=False,
        overload="tensor_lr",
    )


@pytest.mark.parametrize("found_inf", [0.0, 1.0])
def test_adagrad(found_inf: float) -> None:
    check(
        "_fused_adagrad",
        *(tensors(), tensors(), squares(), steps()),
        lr=LR,
        lr_decay=0.2,
        weight_decay=0.1,
        eps=1e-10,
        maximize=True,
        grad_scale=torch.tensor(2.0),
        found_inf=torch.tensor(found_inf),
    )


def test_a_compiled_step_in_place() -> None:
    def step(*lists: Any) -> None:
        torch.ops.aten._fused_adamw_(*lists, steps(), lr=LR, **(ADAM | {"amsgrad": True}))

    expected = (tensors(), tensors(), tensors(), squares(), squares())
    actual = [[tensor.clone() for tensor in own] for own in expected]
    step(*expected)
    torch.compile(step, backend="neuron", dynamic=False, fullgraph=True)(*actual)
    for wanted, found in zip(expected, actual, strict=True):
        torch.testing.assert_close(found, wanted)
