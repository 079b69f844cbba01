"""Collecting the graphs of a program."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from neuron_compile.assembly import assemble
from neuron_compile.compiler import Compiler
from neuron_compile.graph import GraphRole
from neuron_compile.options import CompileOptions
from neuron_compile.settings import read_settings
from neuron_compile.warmup.collect import Collection
from neuron_compile.warmup.compile_jobs import mark_cached
from neuron_compile.warmup.job import State


def compiled(model: Any, **options: Any) -> Any:
    return torch.compile(model, backend="neuron", dynamic=False, options=options or None)


def gradient_of(model: Any) -> list[Any]:
    x = torch.ones(3, 4, requires_grad=True)
    model(x).square().sum().backward()
    assert x.grad is not None
    return [x.grad.tolist()]


def test_values_are_eagers_and_nothing_is_compiled() -> None:
    model = nn.Sequential(nn.Linear(4, 2), nn.Tanh())
    collection = Collection()
    with collection.collecting():
        assert gradient_of(compiled(model)) == gradient_of(model)
        with torch.no_grad():
            compiled(model)(torch.ones(3, 4))
    assert [(job.model, job.role, job.state) for job in collection.jobs] == [
        ("Sequential", "forward", State.WAITING),
        ("Sequential", "backward", State.WAITING),
    ]
    # Nothing is saved but arguments and results, so that both forward graphs are one.
    assert collection.jobs[0].roles == {GraphRole.FORWARD, GraphRole.INFERENCE}
    store = assemble(CompileOptions(), read_settings()).cache
    assert list(store.entries()) == []


def test_one_graph_is_one_job_under_each_of_its_names() -> None:
    collection = Collection()
    with collection.collecting(), torch.no_grad():
        for function in (lambda x: x.sin(), lambda y: y.sin()):
            compiled(function)(torch.ones(2))
        compiled(lambda x: x.sin(), optimization_level=1)(torch.ones(2))
    assert [len(job.names) for job in collection.jobs] == [2, 1]


def test_a_backward_graph_that_is_not_called_is_collected() -> None:
    collection = Collection()
    with collection.collecting():
        compiled(lambda x: x.sin())(torch.ones(2, requires_grad=True))
    assert [job.role for job in collection.jobs] == ["forward", "backward"]


def test_what_the_cache_has_is_used() -> None:
    def function(x: Tensor) -> Tensor:
        return (x.sin() * 2).sum()

    function_compiled = compiled(function)
    function_compiled(torch.ones(2, requires_grad=True)).backward()
    torch._dynamo.reset()
    collection = Collection()
    with collection.collecting():
        compiled(function)(torch.ones(2, requires_grad=True)).backward()
        torch._dynamo.reset()
        # Known to the artifact cache alone: torch's own is asked under another key.
        with torch.compiler.config.patch(cache_key_tag="another"):  # type: ignore[attr-defined]
            compiled(function)(torch.ones(2, requires_grad=True)).backward()
    mark_cached(collection.jobs)
    assert [(job.role, job.state) for job in collection.jobs] == [
        ("forward", State.CACHED),
        ("backward", State.CACHED),
    ]


def test_compilers_are_ordinary_afterwards() -> None:
    with Collection().collecting():
        inside = assemble(CompileOptions(), read_settings())
    assert type(inside) is not Compiler
    assert type(assemble(CompileOptions(), read_settings())) is Compiler
