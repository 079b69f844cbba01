"""Memory shared without a copy is safe: nothing changes under the user's hands, on either side."""

from __future__ import annotations

import gc

import pytest
import torch
from torch import Tensor, nn

from parity import compiled

# Small results may live in one buffer, large ones elsewhere; both must be the user's own.
SIZES = pytest.mark.parametrize("size", [3, 1 << 16])


@SIZES
def test_result_is_the_same_after_later_calls(size: int) -> None:
    function = compiled(lambda x: (x * 2, x.sum(), x > 0))
    x = torch.ones(size)
    results = [function(x * step) for step in range(6)]
    for step, (doubled, total, positive) in enumerate(results):
        assert torch.equal(doubled, torch.full((size,), 2.0 * step))
        assert total == size * step
        assert positive.all() == (step > 0)


@SIZES
def test_result_does_not_follow_the_argument(size: int) -> None:
    x = torch.zeros(size)
    y = compiled(lambda t: t * 1)(x)
    x.add_(1)
    assert y.sum() == 0


@SIZES
def test_argument_changed_right_after_the_call_is_not_read_late(size: int) -> None:
    function = compiled(lambda a, b: (a @ b).sum() if a.dim() > 1 else (a * b).sum())
    x, ones = torch.zeros(size), torch.ones(size)
    for step in range(10):
        y = function(x, ones)
        x.add_(1)
        assert y == size * step


def test_argument_freed_right_after_the_call() -> None:
    function = compiled(lambda x: x.view(64, 64) @ x.view(64, 64))
    results = []
    for step in range(5):
        x = torch.full((4096,), float(step))
        results.append(function(x))
        del x
        torch.full((4096,), -1.0)
    for step, y in enumerate(results):
        assert torch.equal(y, torch.full((64, 64), 64.0 * step * step))


def test_result_outlives_function_arguments_and_caches() -> None:
    function = compiled(lambda x: (x + 1, (x + 2).t()))
    x = torch.ones(8, 8)
    y, z = function(x)
    del function, x
    torch._dynamo.reset()
    gc.collect()
    assert torch.equal(y, torch.full((8, 8), 2.0))
    assert torch.equal(z, torch.full((8, 8), 3.0))


def test_view_outlives_the_result_that_it_was_taken_from() -> None:
    function = compiled(lambda x: x + 1)
    rows = [function(torch.full((16, 16), float(step)))[3] for step in range(4)]
    gc.collect()
    for step, row in enumerate(rows):
        assert torch.equal(row, torch.full((16,), step + 1.0))


def test_activations_saved_for_backward_survive_later_forwards() -> None:
    module = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1))
    function = compiled(module)
    inputs = [torch.randn(4, 8, requires_grad=True) for _ in range(3)]
    losses = [function(x).sum() for x in inputs]
    torch.stack(losses).sum().backward()
    for x in inputs:
        y = x.detach().requires_grad_()
        module(y).sum().backward()
        torch.testing.assert_close(x.grad, y.grad)


def test_user_may_write_to_every_result() -> None:
    function = compiled(lambda x: (x * 2, x.sum(), torch.zeros(3), x.t() + 1))
    for _ in range(2):
        for y in function(torch.ones(2, 2)):
            y.add_(1).resize_(y.shape)
        doubled, total, zeros, shifted = function(torch.ones(2, 2))
        assert doubled.eq(2).all()
        assert total == 4
        assert zeros.eq(0).all()
        assert shifted.eq(2).all()


def test_result_does_not_grow_in_place_but_by_a_copy() -> None:
    y = compiled(lambda x: x + 1)(torch.zeros(4))
    assert y.resize_(2, 2).tolist() == [[1.0, 1.0]] * 2
    grown = y.clone().resize_(8)
    assert grown[:4].tolist() == [1.0] * 4
    with pytest.raises(RuntimeError, match="not resizable"):
        y.resize_(8)


def test_result_can_be_shared_like_any_tensor() -> None:
    assert compiled(lambda x: x + 1)(torch.zeros(4)).numpy().tolist() == [1.0] * 4
    z = compiled(lambda x: x + 2)(torch.zeros(4))
    z.share_memory_()
    assert z.tolist() == [2.0] * 4


def test_result_passed_back_in_as_the_next_argument() -> None:
    function = compiled(lambda x: (x * 2, x + 1))
    x = torch.ones(5)
    for _ in range(5):
        x, _ = function(x)
    assert torch.equal(x, torch.full((5,), 32.0))


def test_recurrent_state_handed_back_and_forth() -> None:
    cell = nn.GRUCell(3, 3)
    function = compiled(cell)
    state = reference = torch.zeros(2, 3)
    history: list[Tensor] = []
    with torch.no_grad():
        for _ in range(4):
            x = torch.randn(2, 3)
            state, reference = function(x, state), cell(x, reference)
            history.append(state)
            torch.testing.assert_close(state, reference)
    assert len({h.data_ptr() for h in history}) == 4


def test_read_only_memory_is_never_written() -> None:
    array = torch.arange(4.0).numpy()
    array.flags.writeable = False
    function = compiled(lambda x: x * 2)
    with pytest.warns(UserWarning, match="not writable"):
        x = torch.from_numpy(array)
    assert function(x).tolist() == [0.0, 2.0, 4.0, 6.0]
    assert array.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_memory_mapped_file_as_an_argument(tmp_path: object) -> None:
    path = f"{tmp_path}/numbers"
    x = torch.from_file(path, shared=True, size=64)
    x.copy_(torch.arange(64.0))
    y = compiled(lambda t: t[3:] * 2)(x)
    x.zero_()
    assert torch.equal(y, torch.arange(3.0, 64.0) * 2)
