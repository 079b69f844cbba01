"""Later calls take the short way, and get what the long way gives."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from neuron_compile import ExecutionError
from neuron_compile.lowering.legalize.node_values import spec_of
from neuron_compile.runtime import arguments as arguments_module
from neuron_compile.runtime.arguments import Arguments
from neuron_compile.runtime.boundary import Crossing, entrance


@pytest.fixture
def crossings(monkeypatch: pytest.MonkeyPatch) -> list[Tensor]:
    """The tensors that went the long way."""
    seen: list[Tensor] = []

    def observed(spec: object) -> Crossing:
        enter = entrance(spec)  # type: ignore[arg-type]

        def crossing(tensor: Tensor) -> Tensor:
            seen.append(tensor)
            return enter(tensor)

        return crossing

    monkeypatch.setattr(arguments_module, "entrance", observed)
    return seen


def arguments(*tensors: Tensor) -> Arguments:
    return Arguments([spec_of(tensor) for tensor in tensors])


def test_the_same_kind_of_tensor_is_looked_at_once(crossings: list[Tensor]) -> None:
    parameter, x = nn.Parameter(torch.ones(3, 4)), torch.ones(2)
    entering = arguments(parameter, x)
    entering.enter([parameter, x])
    other, y = nn.Parameter(torch.zeros(3, 4)), torch.zeros(2)
    entered = entering.enter([other, y])
    assert len(crossings) == 2
    assert entered[0] is other
    assert entered[1] is y


def test_a_permuted_tensor_enters_as_a_view_on_the_short_way_too(crossings: list[Tensor]) -> None:
    x = torch.arange(12.0).reshape(3, 4)
    entering = arguments(x.t(), x)
    for call in range(2):
        y = x + call
        transposed, dense = entering.enter([y.t(), y])
        assert transposed.data_ptr() == y.data_ptr()
        assert torch.equal(transposed, y)
        assert dense is y
    assert len(crossings) == 2


FLOATS = torch.arange(1.0, 10.0).reshape(3, 3)
COMPLEX = torch.complex(FLOATS, FLOATS + 1)


@pytest.mark.parametrize(
    "usual, unusual",
    [
        (FLOATS, FLOATS.t()),
        (FLOATS, COMPLEX.conj().imag),
        (FLOATS, torch.ones(3, 6)[:, ::2]),
        (COMPLEX, COMPLEX.conj()),
        (nn.Parameter(FLOATS), nn.Parameter(FLOATS.t())),
        (nn.Parameter(FLOATS), FLOATS),
    ],
    ids=["transposed", "negative", "gaps", "conjugate", "parameter", "no parameter"],
)
def test_another_kind_of_tensor_goes_the_long_way(
    usual: Tensor, unusual: Tensor, crossings: list[Tensor]
) -> None:
    entering = arguments(usual)
    entering.enter([usual])
    (entered,) = entering.enter([unusual])
    assert len(crossings) == 2
    assert torch.equal(entered, unusual)
    assert entered.is_contiguous()
    assert not entered.is_conj()
    assert not entered.is_neg()


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(3, 1).expand(3, 4),
        lambda: torch.ones(4, dtype=torch.float64),
        lambda: COMPLEX.conj(),
    ],
    ids=["broadcast", "wide", "conjugate"],
)
def test_what_has_to_be_copied_is_copied_at_each_call(make: Callable[[], Tensor]) -> None:
    tensor = make()
    entering = arguments(tensor)
    addresses = {
        entering.enter([tensor])[0].untyped_storage().data_ptr() == tensor.data_ptr()
        for _ in range(3)
    }
    assert addresses == {False}


@pytest.mark.parametrize(
    "wrong", [torch.ones(4), torch.ones(3, dtype=torch.int32)], ids=["shape", "dtype"]
)
def test_what_the_program_was_not_compiled_for_is_refused(wrong: Tensor) -> None:
    entering = arguments(torch.ones(3))
    entering.enter([torch.ones(3)])
    with pytest.raises(ExecutionError, match="not what the graph was compiled for"):
        entering.enter([wrong])
