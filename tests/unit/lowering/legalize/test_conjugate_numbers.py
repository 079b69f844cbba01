"""The conjugate of a number is a number."""

from __future__ import annotations

import torch

from fx_graphs import capture, run
from neuron_compile.lowering.legalize.conjugate_numbers import conjugate_numbers

X = torch.tensor([1 + 2j, 3 - 1j])


def test_a_numbers_conjugate_goes_into_what_takes_it() -> None:
    module = capture(lambda x: x * x.conj(), X)
    (conjugate,) = (n for n in module.graph.nodes if "conj" in str(n.target))
    conjugate.args = (2j,)
    conjugate_numbers(module)
    assert not any("conj" in str(node.target) for node in module.graph.nodes)
    assert torch.equal(run(module, X)[0], X * -2j)


def test_a_tensors_conjugate_stays() -> None:
    module = capture(lambda x: x * x.conj(), X)
    conjugate_numbers(module)
    assert any("conj" in str(node.target) for node in module.graph.nodes)
