"""Bodies of control flow: StableHLO text that calls functions of the program.

What the kinds and counts mean stands in `legalize.regions`. A function with checks returns, after
its results, a bool vector that is true where a check has failed. The body returns those of all its
functions joined into one, in the order of the functions; over a loop they are or-ed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from neuron_compile.lowering.dtypes import tensor_type
from neuron_compile.lowering.errors import LoweringError
from neuron_compile.lowering.library.arguments import decode_arguments, encode_arguments
from neuron_compile.lowering.library.region_writer import (
    BOOL,
    Function,
    Value,
    Writer,
    names,
    sizes_of,
    type_of,
    zero_of,
)
from neuron_compile.lowering.program import LibraryCall

_NAMESPACE: Final = "control_flow"
_INDEX: Final = "tensor<i64>"


def operator_of(kind: str) -> str:
    """The operator that a `LibraryCall` of this kind of control flow names."""
    return f"{_NAMESPACE}.{kind}"


def is_control_flow(call: LibraryCall) -> bool:
    """Whether `control_flow_body` has the body, and not the tracer."""
    return call.operator.startswith(f"{_NAMESPACE}.")


def encode_control_flow(counts: Sequence[int], functions: Iterable[Function]) -> str:
    """The `arguments` of a `LibraryCall`."""
    listed = [[f.name, list(f.inputs), list(f.results), f.check_count] for f in functions]
    return encode_arguments([list(counts), listed], {})


def control_flow_body(call: LibraryCall) -> str:
    """The StableHLO module whose function `main` computes `call`; the functions that it calls are
    declared in it. Raises `LoweringError` if they do not fit together."""
    counts, listed = decode_arguments(call.arguments).positional
    functions = [
        Function(name, tuple(inputs), tuple(results), checks)
        for name, inputs, results, checks in listed
    ]
    types = [tensor_type(spec.shape, spec.dtype) for spec in call.operands]
    writer = Writer()
    arguments = [f"%arg{number}" for number in range(len(types))]
    build = _BUILDERS[call.operator.removeprefix(f"{_NAMESPACE}.")]
    results = build(writer, counts, functions, [*zip(arguments, types, strict=True)])
    declared = [tensor_type(spec.shape, spec.dtype) for spec in call.results if spec is not None]
    if [kind for _, kind in results] != declared:
        raise LoweringError(
            f"the functions of {call.operator} do not give what it declares",
            why=f"{[kind for _, kind in results]}, declared {declared}.",
        )
    parameters = ", ".join(f"{a}: {t}" for a, t in zip(arguments, types, strict=True))
    writer.line(f"return {names(results)} : {', '.join(declared)}" if declared else "return")
    declarations = "\n".join(
        f"  func.func private @{name}{kind}"
        for name, kind in sorted({(f.name, f.type) for f in functions})
    )
    body = "\n".join(f"    {line}" for line in writer.lines)
    head = f"func.func public @main({parameters}) -> ({', '.join(declared)})"
    return f"module {{\n{declarations}\n  {head} {{\n{body}\n  }}\n}}\n"


def _call(
    writer: Writer, _: Sequence[int], functions: Sequence[Function], operands: Sequence[Value]
) -> list[Value]:
    return writer.call(functions[0], operands)


def _cond(
    writer: Writer, _: Sequence[int], functions: Sequence[Function], operands: Sequence[Value]
) -> list[Value]:
    counts = [function.check_count for function in functions]
    own = functions[0].results[: len(functions[0].results) - bool(counts[0])]

    def branch(number: int) -> Callable[[], list[Value]]:
        def write() -> list[Value]:
            results, vector = _split(
                functions[number], writer.call(functions[number], operands[1:])
            )
            if not sum(counts):
                return results
            # The checks of the branch that was not taken have not failed.
            vectors = [
                vector if other == number and vector else _no_failure(writer, length)
                for other, length in enumerate(counts)
                if length
            ]
            return [*results, _joined(writer, vectors, counts)]

        return write

    kinds = [*own, *([_checks_type(sum(counts))] if sum(counts) else [])]
    return writer.choice(writer.scalar(operands[0]), kinds, [branch(0), branch(1)])


def _while(
    writer: Writer,
    counts: Sequence[int],
    functions: Sequence[Function],
    operands: Sequence[Value],
) -> list[Value]:
    if any(function.check_count for function in functions):
        return _checked_while(writer, counts, functions, operands)
    condition, body = functions
    carried = counts[0]

    def go_on(state: Sequence[Value]) -> Value:
        return writer.scalar(writer.call(condition, state)[0])

    def step(state: Sequence[Value]) -> list[Value]:
        return [*writer.call(body, state), *state[carried:]]

    return writer.loop(operands, go_on, step)[:carried]


def _checked_while(
    writer: Writer,
    counts: Sequence[int],
    functions: Sequence[Function],
    operands: Sequence[Value],
) -> list[Value]:
    """The condition is computed a step ahead, since a region that decides gives no vector."""
    condition, body = functions
    carried = counts[0]

    def judged(values: Sequence[Value]) -> tuple[Value, list[Value]]:
        results, vector = _split(condition, writer.call(condition, values))
        return writer.scalar(results[0]), [vector] if vector else []

    def step(state: Sequence[Value]) -> list[Value]:
        values, failed = state[1 : 1 + len(operands)], state[1 + len(operands) :]
        results, vector = _split(body, writer.call(body, values))
        following = [*results, *values[carried:]]
        more, vectors = judged(following)
        vectors += [vector] if vector else []
        return [
            more,
            *following,
            *(_either(writer, *pair) for pair in zip(failed, vectors, strict=True)),
        ]

    more, vectors = judged(operands)
    if body.check_count:
        vectors.append(_no_failure(writer, body.check_count))
    state = writer.loop([more, *operands, *vectors], lambda state: state[0], step)
    lengths = [function.check_count for function in functions if function.check_count]
    return [*state[1 : 1 + carried], _joined(writer, state[1 + len(operands) :], lengths)]


def _scan(
    writer: Writer,
    counts: Sequence[int],
    functions: Sequence[Function],
    operands: Sequence[Value],
) -> list[Value]:
    (function,) = functions
    carried, ends = counts[0], counts[0] + counts[1]
    length = _length(operands[carried][1])
    slices = function.results[carried : len(function.results) - bool(function.check_count)]
    stacks = [writer.constant(zero_of(kind), _stacked(kind, length)) for kind in slices]
    start, end = writer.constant("0", _INDEX), writer.constant(str(length), _INDEX)
    vectors = [_no_failure(writer, function.check_count)] if function.check_count else []
    if length == 0:
        # A slice of nothing has no type.
        return [*operands[:carried], *stacks, *vectors]
    first_stack = 1 + len(operands)
    first_vector = first_stack + len(stacks)

    def go_on(state: Sequence[Value]) -> Value:
        rest = "{comparison_direction = #stablehlo<comparison_direction LT>}"
        return writer.apply("stablehlo.compare", [state[0], state[-1]], BOOL, rest)

    def step(state: Sequence[Value]) -> list[Value]:
        place, values = state[0], state[1:first_stack]
        taken = [_slice(writer, stacked, place) for stacked in values[carried:ends]]
        given = [*values[:carried], *taken, *values[ends:]]
        results, vector = _split(function, writer.call(function, given))
        written = [
            _write_slice(writer, stack, result, place)
            for stack, result in zip(
                state[first_stack:first_vector], results[carried:], strict=True
            )
        ]
        failed = [_either(writer, state[first_vector], vector)] if vector else []
        one = writer.constant("1", _INDEX)
        following = writer.apply("stablehlo.add", [place, one], _INDEX)
        return [following, *results[:carried], *values[carried:], *written, *failed, state[-1]]

    # The end is carried too: a region that decides sees its arguments only.
    state = writer.loop([start, *operands, *stacks, *vectors, end], go_on, step)
    return [*state[1 : 1 + carried], *state[first_stack:-1]]


_BUILDERS: Final[dict[str, Callable[..., list[Value]]]] = {
    "call": _call,
    "cond": _cond,
    "while": _while,
    "scan": _scan,
}


def _split(function: Function, values: list[Value]) -> tuple[list[Value], Value | None]:
    return (values[:-1], values[-1]) if function.check_count else (values, None)


def _joined(writer: Writer, vectors: Sequence[Value], counts: Sequence[int]) -> Value:
    if len(vectors) == 1:
        return vectors[0]
    rest = "{dimension = 0 : i64}"
    return writer.apply("stablehlo.concatenate", vectors, _checks_type(sum(counts)), rest)


def _no_failure(writer: Writer, length: int) -> Value:
    return writer.constant("false", _checks_type(length))


def _either(writer: Writer, first: Value, second: Value) -> Value:
    return writer.apply("stablehlo.or", [first, second], first[1])


def _slice(writer: Writer, stacked: Value, place: Value) -> Value:
    sizes, element = sizes_of(stacked[1])
    one = (1, *sizes[1:])
    zero = [writer.constant("0", _INDEX)] if len(sizes) > 1 else []
    starts = [place, *zero * (len(sizes) - 1)]
    rest = f"{{slice_sizes = array<i64: {', '.join(map(str, one))}>}}"
    taken = writer.apply("stablehlo.dynamic_slice", [stacked, *starts], type_of(one, element), rest)
    return writer.apply("stablehlo.reshape", [taken], type_of(sizes[1:], element))


def _write_slice(writer: Writer, stack: Value, result: Value, place: Value) -> Value:
    sizes, element = sizes_of(stack[1])
    whole = writer.apply("stablehlo.reshape", [result], type_of((1, *sizes[1:]), element))
    zero = [writer.constant("0", _INDEX)] if len(sizes) > 1 else []
    starts = [place, *zero * (len(sizes) - 1)]
    return writer.apply("stablehlo.dynamic_update_slice", [stack, whole, *starts], stack[1])


def _length(kind: str) -> int:
    return sizes_of(kind)[0][0]


def _stacked(kind: str, length: int) -> str:
    sizes, element = sizes_of(kind)
    return type_of((length, *sizes), element)


def _checks_type(length: int) -> str:
    return f"tensor<{length}xi1>"
