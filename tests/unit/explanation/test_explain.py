"""What is found out about whole models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import explained_models as models
import neuron_compile
from explained_models import Broken, Classifier, Factorizer
from neuron_compile.errors import OptionsError, UnsupportedOp
from neuron_compile.explanation.findings import Explanation, Operation
from neuron_compile.lowering.import_fx import import_fx

MODELS = str(Path(models.__file__))


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEURON_COMPILE_WORKERS", "0")


def operation(found: Explanation, graph: int, name: str) -> Operation:
    (entry,) = (o for o in found.graphs[graph].operations if o.operator == name)
    return entry


def test_sizes_flops_and_routes_of_a_model_that_trains() -> None:
    model, x = Classifier(), torch.randn(6, 8)
    found = neuron_compile.explain(model, x)
    assert found.is_ok
    assert (found.model, found.target) == ("Classifier", "host")
    assert [graph.role for graph in found.graphs] == ["forward", "backward"]
    assert found.parameter_count == 8 * 4 + 4 + 4 + 4
    assert found.parameter_bytes == 4 * found.parameter_count
    assert found.buffer_bytes == 4 * 4 + 4 * 4 + 8
    # The product forward; with respect to the weight backward, since x needs no gradient.
    assert [graph.flops for graph in found.graphs] == [2 * 6 * 8 * 4] * 2
    assert operation(found, 0, "aten.sort.default").routes == ("library",)
    linear = operation(found, 0, "aten.addmm.default")
    assert "aten.mm.default" in linear.into
    assert linear.route == "decomposition, Torch-MLIR"
    assert any(place.file == MODELS and "self.linear(x)" in place.text for place in linear.places)
    assert found.saved_bytes >= 6 * 4 * 4
    assert all(graph.verdict is None for graph in found.graphs)


def test_model_and_random_state_are_left_as_they_were() -> None:
    model, x = Classifier(), torch.randn(6, 8)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    neuron_compile.explain(model, x)
    assert torch.equal(torch.rand(2), expected)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_keyword_arguments_reach_the_model() -> None:
    def power(x: Tensor, *, exponent: Tensor) -> Tensor:
        return x**exponent

    found = neuron_compile.explain(power, torch.ones(3), exponent=torch.ones(3))
    assert found.model == "power"
    assert operation(found, 0, "aten.pow.Tensor_Tensor").count == 1


def test_device_verdict_names_codes_and_lines() -> None:
    found = neuron_compile.explain(Factorizer(), torch.randn(3), for_target="trn2")
    assert not found.is_ok
    obstacles = list(found.obstacles())
    lapack = next(o for o in obstacles if "EVRF015" in o.what and "potrf" in o.what)
    assert MODELS in lapack.where
    assert "torch.linalg.cholesky" in lapack.where
    assert any("EVRF004" in o.what and "torch.fft.rfft" in o.where for o in obstacles)
    verdict = found.graphs[0].verdict
    assert verdict is not None
    assert verdict.memory_bytes == 24 << 30
    assert 0 < verdict.argument_bytes <= verdict.peak_bytes
    assert neuron_compile.explain(Factorizer(), torch.randn(3)).is_ok


def test_ready_model_has_a_clean_verdict() -> None:
    found = neuron_compile.explain(Classifier(), torch.randn(6, 8), for_target="trn2")
    assert found.is_ok
    assert list(found.obstacles()) == []
    verdict = found.graphs[0].verdict
    assert verdict is not None
    assert ("EVRF029", 1) in verdict.rewritten


def test_graph_breaks_are_told_with_line_and_reason() -> None:
    found = neuron_compile.explain(Broken(), torch.randn(3))
    assert found.is_ok
    assert [graph.role for graph in found.graphs] == ["inference"] * 2
    (broken,) = found.breaks
    assert "graph_break" in broken.reason
    assert broken.source is not None
    assert broken.source.text == "torch._dynamo.graph_break()"


@pytest.fixture
def lacking(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Called with operators' names, it takes their lowering away."""
    from neuron_compile.errors import UnsupportedOpError
    from neuron_compile.lowering import import_fx as module
    from neuron_compile.lowering.source_lines import source_line

    missing: set[str] = set()

    def importing(graph: Any, **settings: Any) -> Any:
        for node in graph.graph.nodes:
            # One at a time, as stages of lowering do that do not see each other's failures.
            if str(node.target) in missing:
                operation = UnsupportedOp(
                    str(node.target), node.name, "", "it is missing.", source_line(node)
                )
                raise UnsupportedOpError([operation])
        return import_fx(graph, **settings)

    monkeypatch.setattr(module, "import_fx", importing)
    return lambda *names: missing.update(names)


def test_all_operations_without_a_lowering_are_found(lacking: Callable[..., None]) -> None:
    lacking("aten.sin.default", "aten.cos.default", "aten.topk.default")

    def function(x: Tensor) -> Tensor:
        best = x.sin().topk(2)[0]
        return (best.cos() + 1).exp()

    found = neuron_compile.explain(function, torch.randn(5))
    (graph,) = found.graphs
    assert {f.operator for f in graph.failures} == {
        "aten.sin.default", "aten.cos.default", "aten.topk.default",
    }  # fmt: skip
    assert all(f.source and f.source.file == __file__ for f in graph.failures)
    assert operation(found, 0, "aten.sin.default").route == "none"
    assert operation(found, 0, "aten.exp.default").route == "Torch-MLIR"
    assert graph.stablehlo_bytes
    assert not found.is_ok


def test_numbers_that_no_program_can_hold_are_found_at_their_line() -> None:
    def function(x: Tensor) -> Any:
        small = x.sin().to(torch.float8_e5m2fnuz)
        return small.float().cos(), small.to(torch.float8_e4m3fnuz), x.exp()

    found = neuron_compile.explain(function, torch.randn(5), for_target="trn2")
    (graph,) = found.graphs
    assert sorted(f.source.text for f in graph.failures if f.source) == [
        "return small.float().cos(), small.to(torch.float8_e4m3fnuz), x.exp()",
        "small = x.sin().to(torch.float8_e5m2fnuz)",
    ]
    assert {"float8_e5m2fnuz", "float8_e4m3fnuz"} == {f.arguments for f in graph.failures}
    for name in ("aten.cos.default", "aten.exp.default"):
        assert operation(found, 0, name).route == "Torch-MLIR"

    given = neuron_compile.explain(
        lambda x: x.float().sin(), torch.ones(2).to(torch.float8_e5m2fnuz)
    )
    assert len(given.graphs[0].failures) == 1
    assert operation(given, 0, "aten.sin.default").route == "Torch-MLIR"


def test_dynamic_shapes_are_an_obstacle() -> None:
    x = torch.randn(4)
    torch._dynamo.mark_dynamic(x, 0)
    found = neuron_compile.explain(lambda x: x.sin(), x)
    assert not found.is_ok
    (obstacle,) = found.obstacles()
    assert "dynamic" in obstacle.what


def test_unknown_target_is_refused() -> None:
    with pytest.raises(OptionsError, match="did you mean 'trn2'"):
        neuron_compile.explain(lambda x: x, torch.ones(1), for_target="trn22")


def test_json_says_all_of_it() -> None:
    found = neuron_compile.explain(Factorizer(), torch.randn(3), for_target="trn2")
    value = json.loads(json.dumps(found.to_json()))
    assert value["is_ok"] is False
    assert value["flops"] == found.flops > 0
    forward = value["graphs"][0]
    assert forward["is_ok"] is False
    assert forward["verdict"]["refusals"][0][0]["code"].startswith("E")
    assert {"operator", "routes", "into", "count", "flops", "places"} <= set(
        forward["operations"][0]
    )
