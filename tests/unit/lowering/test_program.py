"""The plain data between the stages."""

from __future__ import annotations

import json

import pytest

from neuron_compile.lowering import TensorSpec


@pytest.mark.parametrize(
    "spec",
    [
        TensorSpec((2, 3), "bfloat16", (1, 2)),
        TensorSpec((), "int64", ()),
        TensorSpec((0, 4), "complex64", (4, 1)),
    ],
    ids=str,
)
def test_spec_survives_json(spec: TensorSpec) -> None:
    assert TensorSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


def test_sizes_are_those_of_a_dense_copy() -> None:
    spec = TensorSpec((2, 3), "bfloat16", (0, 1))
    assert (spec.element_count, spec.byte_count) == (6, 12)
    assert TensorSpec((), "float64", ()).byte_count == 8
    assert TensorSpec((0, 5), "float64", (5, 1)).byte_count == 0
