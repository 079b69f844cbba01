from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_compile.lowering.errors import LoweringError
from neuron_compile.lowering.library.arguments import (
    Arguments,
    DType,
    Operand,
    decode_arguments,
    encode_arguments,
)

PLAIN = (
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False) | st.builds(Operand, st.integers(0, 99))
    | st.sampled_from([DType("float32"), DType("bool")])
)  # fmt: skip
TREES = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=4), max_leaves=12)


@given(st.lists(TREES, max_size=4), st.dictionaries(st.text(max_size=5), TREES, max_size=3))
def test_decode_inverts_encode(args: list[object], kwargs: dict[str, object]) -> None:
    assert repr(decode_arguments(encode_arguments(args, kwargs))) == repr(
        Arguments(tuple(args), dict(sorted(kwargs.items())))
    )


def test_special_floats_survive() -> None:
    values = decode_arguments(
        encode_arguments([math.inf, -math.inf, math.nan, -0.0], {})
    ).positional
    assert values[0] == math.inf
    assert values[1] == -math.inf
    assert math.isnan(values[2])
    assert math.copysign(1, values[3]) == -1


def test_types_are_kept_apart() -> None:
    decoded = decode_arguments(encode_arguments([1, 1.0, True, (2, [3])], {})).positional
    assert [type(value) for value in decoded] == [int, float, bool, list]
    assert decoded[3] == [2, [3]]


def test_equal_arguments_give_equal_text() -> None:
    assert encode_arguments([], {"b": 1, "a": 2}) == encode_arguments([], {"a": 2, "b": 1})
    assert encode_arguments([1], {}) != encode_arguments([True], {})
    assert encode_arguments([0.0], {}) != encode_arguments([-0.0], {})


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(LoweringError, match="no text form is known for slice"):
        encode_arguments([slice(None)], {})


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", "[1,2]", "[[],[]]", "[[{}],{}]", '[[{"f":1}],{}]', '[[{"f":"x"}],{}]',
        '[[{"o":-1}],{}]', '[[{"o":true}],{}]', '[[{"t":"float33"}],{}]', '[[{"t":[]}],{}]',
        '[[{"c":["0x1p0"]}],{}]', "[[NaN],{}]", "[[1.5],{}]", '[[{"f":"0x1p0","o":1}],{}]',
        "[" * 100_000, "[[" + "9" * 5000 + "],{}]", '[[{"q":1}],{}]',
    ],
)  # fmt: skip
def test_malformed_text_is_a_lowering_error(text: str) -> None:
    with pytest.raises(LoweringError, match="cannot read the arguments"):
        decode_arguments(text)


@given(st.text())
def test_any_text_is_decoded_or_refused(text: str) -> None:
    try:
        decoded = decode_arguments(text)
    except LoweringError:
        return
    assert isinstance(decoded, Arguments)


def test_get_finds_an_argument_by_place_or_name() -> None:
    arguments = Arguments((1, 2), {"dim": 3})
    assert arguments.get(1, "other") == 2
    assert arguments.get(2, "dim") == 3
    assert arguments.get(2, "keepdim", True) is True
