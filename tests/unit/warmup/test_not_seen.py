"""What the program did not do."""

from __future__ import annotations

from neuron_compile.graph import GraphRole
from neuron_compile.lowering.program import TensorSpec
from neuron_compile.warmup.not_seen import not_seen
from warmup_jobs import job

OTHER = (TensorSpec((3, 4), "float32", (4, 1)),)


def test_roles_that_are_missing() -> None:
    forward, backward = job(), job(role=GraphRole.BACKWARD, inputs=OTHER)
    other = job(inputs=OTHER)
    inference = job(role=GraphRole.INFERENCE)
    assert not_seen([forward, other, backward, inference]) == []
    (sentence,) = not_seen([forward, other, backward])
    assert "without gradients" in sentence
    (sentence,) = not_seen([forward, other, inference])
    assert "no backward graph" in sentence
    sentences = not_seen([inference])
    assert "as in training" in sentences[0]
    assert "same shapes" in sentences[1]


def test_models_are_told_apart() -> None:
    sentences = not_seen([job(), job(model="Other")])
    assert {sentence.partition(":")[0] for sentence in sentences} == {"Net", "Other"}
