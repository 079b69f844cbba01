"""Which graphs AOTAutograd hands over, and when."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from neuron_compile.compiler import Compiler, PreparedGraph
from neuron_compile.graph import CapturedGraph, GraphRole


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> list[CapturedGraph]:
    graphs: list[CapturedGraph] = []
    original = Compiler.finish

    def record(
        self: Compiler, prepared: PreparedGraph, upcoming: CapturedGraph | None = None
    ) -> Any:
        graphs.append(prepared.graph)
        return original(self, prepared, upcoming)

    monkeypatch.setattr(Compiler, "finish", record)
    return graphs


def compiled(function: Any) -> Any:
    return torch.compile(function, backend="neuron", dynamic=False)


def operators(graph: CapturedGraph) -> set[str]:
    return {str(node.target) for node in graph.module.graph.nodes if node.op == "call_function"}


def test_without_gradients_there_is_one_inference_graph(captured: list[CapturedGraph]) -> None:
    compiled(lambda x: x.sin())(torch.ones(2))
    assert [graph.role for graph in captured] == [GraphRole.INFERENCE]


def test_backward_graph_is_compiled_when_it_is_first_needed(captured: list[CapturedGraph]) -> None:
    result = compiled(lambda x: (x.sin() * x).sum())(torch.ones(2, requires_grad=True))
    assert [graph.role for graph in captured] == [GraphRole.FORWARD]
    result.backward()
    assert [graph.role for graph in captured] == [GraphRole.FORWARD, GraphRole.BACKWARD]


def test_second_worker_is_asked_for_when_there_is_a_second_graph(
    captured: list[CapturedGraph], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[int, int]] = []

    def warm(_: Compiler, count: int = 1) -> None:
        asked.append((count, len(captured)))

    monkeypatch.setattr(Compiler, "warm", warm)
    compiled(lambda x: x.sin())(torch.ones(2))
    assert asked == [(1, 0)]
    compiled(lambda x: (x.sin() * x).sum())(torch.ones(2, requires_grad=True))
    # Before the forward graph is compiled, so that it is ready for the backward graph.
    assert asked[1:] == [(1, 1), (2, 1)]


def test_attention_is_traced_as_products_and_softmax(captured: list[CapturedGraph]) -> None:
    def attend(q: Tensor) -> Tensor:
        return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    compiled(attend)(torch.ones(1, 2, 4, 8))
    assert not any("flash" in operator for operator in operators(captured[0]))


def test_random_numbers_are_functions_of_a_saved_seed(captured: list[CapturedGraph]) -> None:
    x = torch.ones(64, requires_grad=True)
    compiled(lambda x: torch.dropout(x.sin(), 0.5, True))(x).sum().backward()
    forward, backward = captured
    assert "neuron_compile.draw_seed.default" in operators(forward)
    assert "neuron_compile.draw_seed.default" not in operators(backward)


def test_graphs_carry_the_models_name(captured: list[CapturedGraph]) -> None:
    compiled(torch.nn.Sequential(torch.nn.Linear(2, 2)))(torch.ones(1, 2)).sum().backward()
    assert {graph.model for graph in captured} == {"Sequential"}
