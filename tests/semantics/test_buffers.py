"""State that a module or a closure keeps between calls."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from parity import check_parity, compiled


class Ring(nn.Module):
    """Remembers the last four numbers it was given, and how many there were."""

    kept: Tensor
    count: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(4))
        self.register_buffer("count", torch.tensor(0))

    def forward(self, x: Tensor) -> Tensor:
        self.kept.copy_(torch.cat([self.kept[1:], x]))
        self.count += 1
        return self.kept.sum()


def test_ring_buffer_and_counter_advance_on_each_call() -> None:
    module = Ring()
    function = compiled(module)
    assert [function(torch.tensor([v])).item() for v in (1.0, 2.0, 3.0)] == [1.0, 3.0, 6.0]
    assert module.count == 3
    assert module.kept.tolist() == [0.0, 1.0, 2.0, 3.0]
    check_parity(Ring(), torch.tensor([5.0]), calls=3)


class ReassignedState(nn.Module):
    """Replaces its buffer by a new tensor instead of writing to it."""

    average: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("average", torch.zeros(3), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        self.average = 0.9 * self.average + 0.1 * x.detach().mean(0)
        return x - self.average


def test_reassigned_buffer_holds_the_new_tensor() -> None:
    check_parity(ReassignedState(), torch.randn(4, 3, requires_grad=True), grad=True, calls=3)


@pytest.mark.parametrize(
    "module",
    [
        nn.BatchNorm1d(3),
        nn.BatchNorm1d(3, momentum=None),
        nn.BatchNorm1d(3, affine=False),
        nn.BatchNorm1d(3, track_running_stats=False),
        nn.BatchNorm1d(3).eval(),
        nn.Sequential(nn.BatchNorm1d(3, eps=0.1), nn.ReLU(), nn.BatchNorm1d(3)),
        nn.InstanceNorm1d(3, track_running_stats=True, affine=True),
    ],
    ids=["default", "cumulative", "no_affine", "no_statistics", "eval", "two", "instance"],
)
def test_normalization_statistics(module: nn.Module) -> None:
    check_parity(module, torch.randn(4, 3, 5, requires_grad=True), grad=True, bound=1e-5)


def test_batch_norm_on_images_and_on_vectors() -> None:
    check_parity(nn.BatchNorm2d(3), torch.randn(4, 3, 5, 5, requires_grad=True), grad=True)
    check_parity(nn.BatchNorm1d(3), torch.randn(4, 3, requires_grad=True), grad=True, bound=1e-5)


def test_batch_norm_switched_between_training_and_evaluation() -> None:
    module, reference = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    function = compiled(module)
    for training in (True, True, False, True, False):
        x = torch.randn(8, 2) * 3 + 1
        torch.testing.assert_close(
            function.train(training)(x), reference.train(training)(x), rtol=1e-5, atol=1e-5
        )
    torch.testing.assert_close(dict(module.named_buffers()), dict(reference.named_buffers()))
    assert module.num_batches_tracked == 3


class KeyCache(nn.Module):
    """Attends over keys and values written at the given positions of preallocated buffers."""

    keys: Tensor
    values: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(1, 2, 6, 4))
        self.register_buffer("values", torch.zeros(1, 2, 6, 4))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, positions: Tensor) -> Tensor:
        self.keys.index_copy_(2, positions, key)
        self.values[:, :, positions] = value
        visible = torch.arange(6)[None, :] <= positions[:, None]
        return nn.functional.scaled_dot_product_attention(
            query, self.keys, self.values, attn_mask=visible
        )


@torch.no_grad()
def test_key_value_cache_written_in_place_over_decoding_steps() -> None:
    module, reference = KeyCache(), KeyCache()
    function = compiled(module)
    address = module.keys.data_ptr()
    for positions in (torch.tensor([0, 1, 2]), torch.tensor([3]), torch.tensor([4])):
        inputs = [torch.randn(1, 2, len(positions), 4) for _ in range(3)]
        torch.testing.assert_close(function(*inputs, positions), reference(*inputs, positions))
        assert torch.equal(module.keys, reference.keys)
        assert torch.equal(module.values, reference.values)
    assert module.keys.data_ptr() == address
    assert module.keys[:, :, 5].abs().sum() == 0


def test_cache_passed_as_an_argument_is_written_in_place() -> None:
    def store(cache: Tensor, x: Tensor, position: Tensor) -> Tensor:
        cache[:, position] = x
        return cache.sum(1)

    check_parity(store, torch.zeros(2, 4, 3), torch.randn(2, 1, 3), torch.tensor([2]))


class PlainState:
    """A tensor held by an object that is no module."""

    def __init__(self) -> None:
        self.tensor = torch.zeros(2)


def test_plain_tensor_attribute_is_read_anew_on_each_call() -> None:
    state = PlainState()
    function = compiled(lambda x, i: state.tensor.index_copy_(0, i, x).clone())
    function(torch.tensor([2.0]), torch.tensor([0]))
    assert state.tensor.tolist() == [2.0, 0.0]
    state.tensor = torch.zeros(2)
    assert function(torch.tensor([1.0]), torch.tensor([1])).tolist() == [0.0, 1.0]
    assert state.tensor.tolist() == [0.0, 1.0]


def test_attribute_set_by_the_function_is_set_afterwards() -> None:
    class Recorder(nn.Module):
        last: Tensor

        def forward(self, x: Tensor) -> Tensor:
            self.last = x.exp()
            return x + 1

    module = Recorder()
    x = torch.randn(3)
    compiled(module)(x)
    torch.testing.assert_close(module.last, x.exp())


def test_step_counter_in_python_advances() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.step = 0

        def forward(self, x: Tensor) -> Tensor:
            self.step += 1
            return x * 2

    module = Counter()
    function = compiled(module)
    for _ in range(3):
        assert function(torch.ones(2)).tolist() == [2.0, 2.0]
    assert module.step == 3


def test_buffer_replaced_moved_in_dtype_and_loaded() -> None:
    module = nn.BatchNorm1d(2).eval()
    function = compiled(module)
    x = torch.randn(4, 2)
    function(x)
    module.running_mean = torch.full((2,), 5.0)
    torch.testing.assert_close(function(x), module(x))
    module.load_state_dict({k: v + 1 for k, v in module.state_dict().items()})
    torch.testing.assert_close(function(x), module(x))
    module.bfloat16()
    y = x.bfloat16()
    torch.testing.assert_close(function(y), module(y))
