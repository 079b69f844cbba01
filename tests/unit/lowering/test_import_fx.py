from __future__ import annotations

import torch


def test_a_constant_is_used_by_operators_of_both_kinds_and_more_than_once() -> None:
    def function(x: torch.Tensor) -> list[torch.Tensor]:
        constant = torch.tensor([3.0, 4.0])
        return [x + constant, torch.logaddexp(x, constant), torch.hypot(x, constant), x * constant]

    x = torch.tensor([1.0, 2.0])
    actual = torch.compile(function, backend="neuron", dynamic=False)(x)
    torch.testing.assert_close(actual, function(x))
