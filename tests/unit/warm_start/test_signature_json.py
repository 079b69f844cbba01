"""Signatures through JSON."""

from __future__ import annotations

import json
import math

import pytest

from neuron_compile.lowering.program import (
    ConstantResult,
    CopiedResult,
    InputResult,
    RuntimeCheck,
    SameResult,
    Signature,
    TensorSpec,
    ViewResult,
)
from neuron_compile.warm_start.signature_json import (
    UnstorableError,
    decode_signature,
    encode_signature,
)

SPEC = TensorSpec((2, 3), "float32", (3, 1))
FULL = Signature(
    inputs=(SPEC, None, TensorSpec((), "int64", ())),
    kept_inputs=(0, 2),
    outputs=(SPEC,),
    result_slots=(
        0,
        None,
        InputResult(1),
        SameResult(0),
        CopiedResult(0),
        ViewResult(0, TensorSpec((3,), "float32", (1,)), 3),
        ConstantResult(True),
        ConstantResult(1),
        ConstantResult(-0.0),
        ConstantResult(math.inf),
        ConstantResult("text"),
        ConstantResult(None),
    ),
    seed_count=1,
    checks=(RuntimeCheck("IndexError", "index out of range"),),
)


def test_everything_comes_back_as_it_was() -> None:
    restored = decode_signature(json.loads(json.dumps(encode_signature(FULL))))
    assert restored == FULL
    constants = [slot.value for slot in restored.result_slots if isinstance(slot, ConstantResult)]
    assert [type(value) for value in constants] == [bool, int, float, float, str, type(None)]
    assert math.copysign(1, constants[2]) == -1


@pytest.mark.parametrize("value", [1j, (1, 2), object(), b"bytes"])
def test_constants_that_json_has_no_word_for(value: object) -> None:
    signature = Signature((), (), (), (ConstantResult(value),))
    with pytest.raises(UnstorableError):
        encode_signature(signature)
