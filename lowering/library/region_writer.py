"""Writes the body of a function as StableHLO text: values have names and types, operations a line.

Types are MLIR's text (`tensor<3x4xf32>`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from neuron_compile.lowering.errors import LoweringError

BOOL: Final = "tensor<i1>"
_NON_SCALAR: Final = re.compile(r"tensor<((?:\d+x)+)(.+)>")

# A value's name and its type.
Value = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program: the MLIR types of its arguments and results. `check_count` is the
    length of its last result if that is the vector of its checks, else 0."""

    name: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]
    check_count: int = 0

    @property
    def type(self) -> str:
        """The function's type in MLIR."""
        return function_type(self.inputs, self.results)


class Writer:
    """The lines so far, and numbers for the values to come."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._numbers = count()

    def line(self, text: str) -> None:
        """One line, as it is."""
        self.lines.append(text)

    def apply(
        self, operation: str, operands: Sequence[Value], result: str, rest: str = ""
    ) -> Value:
        """One operation with one result."""
        name = f"%v{next(self._numbers)}"
        kinds = ", ".join(kind for _, kind in operands)
        self.line(f'{name} = "{operation}"({names(operands)}) {rest} : ({kinds}) -> {result}')
        return name, result

    def call(self, function: Function, operands: Sequence[Value]) -> list[Value]:
        """Call a function; its results, the vector of checks last."""
        given = tuple(kind for _, kind in operands)
        if given != function.inputs:
            raise LoweringError(
                "a function of control flow is called with other types than it takes",
                why=f"{given}, and it takes {function.inputs}.",
            )
        left, values = self._results(function.results)
        self.line(f"{left}func.call @{function.name}({names(operands)}) : {function.type}")
        return values

    def constant(self, text: str, kind: str) -> Value:
        """A tensor that is one number throughout."""
        return self.apply("stablehlo.constant", [], kind, f"{{value = dense<{text}> : {kind}}}")

    def scalar(self, condition: Value) -> Value:
        """A condition with one element, as a scalar."""
        if condition[1] == BOOL:
            return condition
        return self.apply("stablehlo.reshape", [condition], BOOL)

    def loop(
        self,
        state: Sequence[Value],
        condition: Callable[[Sequence[Value]], Value],
        body: Callable[[Sequence[Value]], Sequence[Value]],
    ) -> list[Value]:
        """`stablehlo.while`; the callables write its regions."""
        kinds = [kind for _, kind in state]
        left, values = self._results(kinds)
        self.line(f'{left}"stablehlo.while"({names(state)}) ({{')
        self._return([condition(self._block(kinds))])
        self.line("}, {")
        self._return(body(self._block(kinds)))
        self.line(f"}}) : {function_type(kinds, kinds)}")
        return values

    def choice(
        self,
        condition: Value,
        kinds: Sequence[str],
        branches: Sequence[Callable[[], Sequence[Value]]],
    ) -> list[Value]:
        """`stablehlo.if`."""
        left, values = self._results(kinds)
        self.line(f'{left}"stablehlo.if"({condition[0]}) ({{')
        self._return(branches[0]())
        self.line("}, {")
        self._return(branches[1]())
        self.line(f"}}) : {function_type([BOOL], kinds)}")
        return values

    def _block(self, kinds: Sequence[str]) -> list[Value]:
        values = [(f"%v{next(self._numbers)}", kind) for kind in kinds]
        self.line(f"^bb0({', '.join(f'{name}: {kind}' for name, kind in values)}):")
        return values

    def _return(self, values: Sequence[Value]) -> None:
        kinds = ", ".join(kind for _, kind in values)
        self.line(f'"stablehlo.return"({names(values)}) : ({kinds}) -> ()')

    def _results(self, kinds: Sequence[str]) -> tuple[str, list[Value]]:
        if not kinds:
            return "", []
        name = f"%v{next(self._numbers)}"
        values = [(f"{name}#{number}", kind) for number, kind in enumerate(kinds)]
        return f"{name}:{len(kinds)} = ", values


def sizes_of(kind: str) -> tuple[tuple[int, ...], str]:
    """The sizes and the element type of a tensor type."""
    found = _NON_SCALAR.fullmatch(kind)
    if found is None:
        return (), kind.removeprefix("tensor<").removesuffix(">")
    return tuple(map(int, found[1].split("x")[:-1])), found[2]


def type_of(sizes: Sequence[int], element: str) -> str:
    """What `sizes_of` takes apart."""
    return f"tensor<{''.join(f'{size}x' for size in sizes)}{element}>"


def zero_of(kind: str) -> str:
    """The text of the number zero of a tensor type's elements."""
    element = sizes_of(kind)[1]
    if element == "i1":
        return "false"
    if element.startswith("complex"):
        return "(0.0, 0.0)"
    return "0.0" if element.startswith(("f", "bf")) else "0"


def names(values: Sequence[Value]) -> str:
    """The names of values, as operands."""
    return ", ".join(name for name, _ in values)


def function_type(inputs: Sequence[str], results: Sequence[str]) -> str:
    """A function's type from those of its arguments and results."""
    return f"({', '.join(inputs)}) -> ({', '.join(results)})"
