"""The argument tree of an ATen call as text, so that it can travel to a process without torch.

Tensors are numbered operands, dtypes are names; all else is plain Python. The text is JSON in one
canonical form: equal trees give equal text, on any machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from neuron_compile.lowering.dtypes import ELEMENT_TYPES
from neuron_compile.lowering.errors import LoweringError


@dataclass(frozen=True, slots=True)
class Operand:
    """A tensor argument: its index among the call's operands."""

    index: int


@dataclass(frozen=True, slots=True)
class DType:
    """A dtype argument, by PyTorch's name without `torch.` (`"float32"`)."""

    name: str


@dataclass(frozen=True, slots=True)
class Arguments:
    """An ATen call's arguments: numbers, strings, None, lists, `Operand` and `DType`."""

    positional: tuple[Any, ...] = ()
    keyword: Mapping[str, Any] = field(default_factory=dict)

    def get(self, position: int, name: str, default: Any = None) -> Any:
        """The argument at `position` of the schema or called `name`; `default` if it is absent."""
        if position < len(self.positional):
            return self.positional[position]
        return self.keyword.get(name, default)


# A float is written in hexadecimal, since JSON has no inf, nan, or promise of exact digits.
_FLOAT: Final = "f"
_COMPLEX: Final = "c"
_OPERAND: Final = "o"
_DTYPE: Final = "t"
_PLAIN: Final = (type(None), bool, int, str)


def encode_arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The canonical text of a call's arguments; `decode_arguments` reads it back.

    Tuples come back as lists. Raises `LoweringError` on a value of any other type.
    """
    tree = [[_encode(value) for value in args], {k: _encode(kwargs[k]) for k in sorted(kwargs)}]
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=True)


def decode_arguments(text: str) -> Arguments:
    """The arguments that `encode_arguments` wrote; `LoweringError` on any other text."""
    try:
        tree = json.loads(text, parse_constant=_no_constant, parse_float=_no_constant)
        positional, keyword = tree
        if not isinstance(positional, list) or not isinstance(keyword, dict):
            raise ValueError("not a pair of positional and keyword arguments")
        return Arguments(
            tuple(_decode(value) for value in positional),
            {name: _decode(value) for name, value in keyword.items()},
        )
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise LoweringError(
            "cannot read the arguments of a library call", where=(text[:200],), why=str(error)
        ) from error


def _encode(value: Any) -> Any:
    # bool and int subclasses (an enum) would change their text, so types are matched exactly.
    if type(value) in _PLAIN:
        return value
    if isinstance(value, list | tuple):
        return [_encode(item) for item in value]
    if type(value) is float:
        return {_FLOAT: value.hex()}
    if type(value) is complex:
        return {_COMPLEX: [value.real.hex(), value.imag.hex()]}
    if type(value) is Operand:
        return {_OPERAND: value.index}
    if type(value) is DType:
        return {_DTYPE: value.name}
    raise LoweringError(
        "cannot encode an argument of a library call",
        where=(repr(value)[:200],),
        why=f"no text form is known for {type(value).__name__}",
    )


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, body),) = value.items()
    return _DECODERS[kind](body)


def _decode_complex(body: Any) -> complex:
    real, imaginary = body
    return complex(float.fromhex(real), float.fromhex(imaginary))


def _decode_operand(body: Any) -> Operand:
    if type(body) is not int or body < 0:
        raise ValueError(f"{body!r} is no operand index")
    return Operand(body)


def _decode_dtype(body: Any) -> DType:
    if body not in ELEMENT_TYPES:
        raise ValueError(f"{body!r} is no dtype")
    return DType(body)


_DECODERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    _FLOAT: float.fromhex,
    _COMPLEX: _decode_complex,
    _OPERAND: _decode_operand,
    _DTYPE: _decode_dtype,
}


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not written by encode_arguments")
