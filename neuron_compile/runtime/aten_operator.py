"""ATen calls of host programs."""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from neuron_compile.lowering.library.arguments import Arguments, DType, Operand, decode_arguments
from neuron_compile.pjrt.foreign_function import BufferView
from neuron_compile.runtime.host_tensor import host_tensor
from neuron_compile.runtime.host_threads import with_callers_threads


def aten_operator(
    arguments: Sequence[BufferView], results: Sequence[BufferView], description: str
) -> None:
    """Compute the call that `description` says, the JSON of a mark (see `CALL_MARK`)."""
    call = _parsed(description)
    operands = [host_tensor(view) for view in arguments]
    targets = [host_tensor(view) for view in results]
    positional = [_value(argument, operands) for argument in call.arguments.positional]
    keyword = {
        name: _value(argument, operands) for name, argument in call.arguments.keyword.items()
    }
    with with_callers_threads():
        if call.writing is not None and len(targets) == len(call.outs):
            call.writing(*positional, **keyword, **dict(zip(call.outs, targets, strict=True)))
            return
        computed = call.operator(*positional, **keyword)
        computed = (computed,) if isinstance(computed, Tensor) else computed
        for number, target in zip(call.results, targets, strict=True):
            target.copy_(computed[number])


@dataclass(frozen=True, slots=True)
class _Call:
    """`writing` is the operator's overload that writes its results to the arguments `outs`."""

    operator: Any
    arguments: Arguments
    results: tuple[int, ...]
    writing: Any | None
    outs: tuple[str, ...]


@functools.lru_cache(maxsize=4096)
def _parsed(description: str) -> _Call:
    fields = json.loads(description)
    namespace, name, overload = fields["operator"].split(".")
    packet = getattr(getattr(torch.ops, namespace), name)
    operator = getattr(packet, overload)
    arguments = decode_arguments(fields["arguments"])
    # One that is asked for another type than its results have here computes and converts.
    has_type = any(isinstance(value, DType) for value in _all_of(arguments))
    writing, outs = (None, ()) if has_type else _writing(packet, operator)
    return _Call(operator, arguments, tuple(fields["results"]), writing, outs)


def _writing(packet: Any, operator: Any) -> tuple[Any | None, tuple[str, ...]]:
    wanted = [(argument.name, str(argument.type)) for argument in operator._schema.arguments]
    for overload in packet.overloads():
        candidate = getattr(packet, overload)
        schema = candidate._schema
        outs = tuple(argument.name for argument in schema.arguments if argument.is_out)
        others = [(a.name, str(a.type)) for a in schema.arguments if not a.is_out]
        if outs and others == wanted:
            return candidate, outs
    return None, ()


def _all_of(arguments: Arguments) -> list[Any]:
    return [*arguments.positional, *arguments.keyword.values()]


def _value(argument: Any, operands: Sequence[Tensor]) -> Any:
    if isinstance(argument, Operand):
        return operands[argument.index]
    if isinstance(argument, DType):
        return getattr(torch, argument.name)
    if isinstance(argument, list):
        return [_value(item, operands) for item in argument]
    return argument
