"""Graphs that AOTAutograd's cache had compute what they did when they were traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from neuron_compile import Float64Warning, report
from neuron_compile.compile_report import GraphReport


def values(*sizes: int) -> Tensor:
    return torch.linspace(-2, 3, int(torch.tensor(sizes).prod())).reshape(sizes)


def attend(x: Tensor) -> Tensor:
    return functional.scaled_dot_product_attention(x, x, x, is_causal=True)


FUNCTIONS: dict[str, tuple[Callable[..., Any], Tensor]] = {
    "elementwise": (lambda x: x.sin() * x, values(3, 4)),
    "attention": (attend, values(1, 2, 4, 8)),
    "two results that share memory": (lambda x: (y := x * 2, y.view(-1), y[0]), values(2, 3)),
    "a view of a result": (lambda x: (x.sin(), x.sin().t()), values(2, 3)),
    "the argument itself": (lambda x: (x, x + 1), values(3)),
    "nothing and numbers": (lambda x: (x + 1, None, 7, x.shape[0]), values(3)),
    "a transposed result": (lambda x: x.exp().transpose(0, 1), values(2, 3)),
    "no elements": (lambda x: (x[:0], x.sum()), values(2, 3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_and_gradients(name: str, restarts: Any) -> None:
    function, argument = FUNCTIONS[name]
    outcomes = []
    for run in (function, restarts.compile(function), None):
        run = run or restarts.compile(function)
        x = argument.clone().requires_grad_()
        results = run(x)
        tensors = [r for r in torch.utils._pytree.tree_leaves(results) if isinstance(r, Tensor)]
        parts = [t.float().sum() for t in tensors if t.requires_grad]
        torch.stack(parts).sum().backward()
        outcomes.append((torch.utils._pytree.tree_leaves(results), x.grad))
    assert restarts.lookups == {"hit": 1}
    eager, _, restored = outcomes
    torch.testing.assert_close(restored, eager)
    for ours, theirs in zip(restored[0], eager[0], strict=True):
        if isinstance(ours, Tensor):
            assert ours.stride() == theirs.stride()
            assert ours.requires_grad == theirs.requires_grad


def test_results_share_memory_as_in_eager(restarts: Any) -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x * 2
        return y, y.view(-1)

    for _ in range(2):
        whole, flat = restarts.compile(function)(values(2, 3))
        flat[0] = 50.0
        assert whole[0, 0] == 50.0
    assert restarts.lookups == {"hit": 1}


def test_autocast_is_part_of_the_key(restarts: Any) -> None:
    x = values(4, 4)
    for dtype in (torch.bfloat16, torch.float16, torch.bfloat16):
        with torch.autocast("cpu", dtype=dtype):
            result = restarts.compile(lambda x: x @ x.mT)(x)
            assert result.dtype == dtype
    torch.testing.assert_close(result.float(), x @ x.mT, rtol=2e-2, atol=2e-2)
    assert restarts.lookups == {"hit": 1}


def test_buffers_are_updated(restarts: Any) -> None:
    norms = [nn.BatchNorm1d(3) for _ in range(3)]
    x = values(4, 3)
    norms[0](x)
    for norm in norms[1:]:
        restarts.compile(norm)(x).sum().backward()
    assert restarts.lookups == {"hit": 1}
    torch.testing.assert_close(norms[2].running_var, norms[0].running_var)
    assert norms[2].num_batches_tracked == 1


def test_random_numbers_follow_the_seed_and_the_call(restarts: Any) -> None:
    def function(x: Tensor) -> Tensor:
        return functional.dropout(x, 0.5)

    drawn = []
    for _ in range(2):
        compiled = restarts.compile(function)
        x = torch.ones(256, requires_grad=True)
        torch.manual_seed(5)
        first, second = compiled(x), compiled(x)
        first.sum().backward()
        torch.testing.assert_close(x.grad, first.detach())
        assert not torch.equal(first, second)
        drawn.append(first.detach())
    assert restarts.lookups == {"hit": 1}
    assert torch.equal(drawn[0], drawn[1])


def test_indices_are_checked(restarts: Any) -> None:
    table = values(5, 2)
    for _ in range(2):
        compiled = restarts.compile(lambda i: functional.embedding(i, table))
        torch.testing.assert_close(compiled(torch.tensor([1, 4])), table[[1, 4]])
        with pytest.raises(IndexError):
            compiled(torch.tensor([1, 5]))
    assert restarts.lookups == {"hit": 1}


def test_lost_precision_is_warned_of_each_time(restarts: Any) -> None:
    messages = []
    for _ in range(2):
        with pytest.warns(Float64Warning, match="float64") as caught:
            restarts.compile(lambda x: x.sin() * 2)(values(3).double())
        messages.append(str(caught[0].message))
    assert restarts.lookups == {"hit": 1}
    assert "test_restored_graphs.py" in messages[1]
    assert messages[0].splitlines()[1:] == messages[1].splitlines()[1:]


def test_report_has_rows_of_what_was_not_traced(restarts: Any) -> None:
    rows: list[list[GraphReport]] = []
    for _ in range(2):
        before = len(report().graphs)
        restarts.compile(lambda x: x.cos(), model_name="wave")(
            values(3).requires_grad_()
        ).sum().backward()
        rows.append(report().graphs[before:])
    cold, warm = rows
    assert [(row.model, row.role, row.node_count) for row in warm] == [
        (row.model, row.role, row.node_count) for row in cold
    ]
    assert [row.cells()[3] for row in cold] == ["compiled", "compiled"]
    assert [row.cells()[3] for row in warm] == ["cached", "cached"]
    assert [row.artifact_bytes for row in warm] == [row.artifact_bytes for row in cold]


def test_each_size_has_its_own_graph(restarts: Any) -> None:
    for outcome in ("miss", "hit"):
        compiled = torch.compile(lambda x: x.cumsum(0), backend="neuron")
        torch._dynamo.reset()
        for size in (3, 4, 5, 3):
            x = values(size)
            torch.testing.assert_close(compiled(x), x.cumsum(0))
        assert restarts.lookups.get(outcome, 0) >= 3
