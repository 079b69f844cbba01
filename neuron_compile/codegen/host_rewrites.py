"""Operations that XLA:CPU is slow at, in equal forms that it is fast at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from neuron_compile.codegen.call_convolution import call_convolution
from neuron_compile.codegen.call_operator import call_operator
from neuron_compile.codegen.legality.program_module import read_module, walk, write_module
from neuron_compile.codegen.pack_sort import pack_sort
from neuron_compile.codegen.spread_depthwise import spread_depthwise
from neuron_compile.lowering import CALL_MARK

# By operator, the forms that are tried; the first one that applies replaces it.
_REWRITES: Final[dict[str, tuple[Callable[[Any], bool], ...]]] = {
    "func.func": (call_operator,),
    "stablehlo.sort": (pack_sort,),
    "stablehlo.convolution": (call_convolution, spread_depthwise),
}
# Operators' names stand in an artifact as text. Most programs have none of these.
_MARKS: Final = (
    CALL_MARK.encode(),
    *(name.removeprefix("stablehlo.").encode() for name in _REWRITES if name != "func.func"),
)


def rewrite_for_host(program: bytes) -> bytes:
    """The portable artifact of a program that computes the same, faster on a CPU."""
    if not any(mark in program for mark in _MARKS):
        return program
    module = read_module(program)
    rewritten = [
        any(rewrite(operation) for rewrite in _REWRITES[operation.name])
        for operation in walk(module.operation)
        if operation.name in _REWRITES
    ]
    return write_module(module) if any(rewritten) else program
