"""The formatter that gives every message its four parts."""

from __future__ import annotations

from neuron_compile.lowering.errors import (
    NeuronCompileError,
    SourceLine,
    UnsupportedOp,
    UnsupportedOpError,
    compose_message,
)

LINE = SourceLine("model.py", 41, "y = f(x)")


def test_parts_stand_in_order_and_empty_ones_are_left_out() -> None:
    message = compose_message("2 things failed", where=["here", "there"], why="so.", hint="that.")
    assert message == "2 things failed\n  here\n  there\nWhy:  so.\nTry:  that."
    assert compose_message("it failed") == "it failed"
    assert compose_message("it failed", hint="that.") == "it failed\nTry:  that."


def test_error_keeps_its_parts_for_tools() -> None:
    error = NeuronCompileError("what", where=["w"], why="why", hint="hint")
    assert (error.what, error.where, error.why, error.hint) == ("what", ("w",), "why", "hint")
    assert str(error) == "what\n  w\nWhy:  why\nTry:  hint"


def test_source_line_without_text_ends_after_the_number() -> None:
    assert str(LINE) == "model.py:41   y = f(x)"
    assert str(SourceLine("model.py", 41)) == "model.py:41"


def test_operations_are_counted_aligned_and_their_reasons_said_once() -> None:
    operations = [
        UnsupportedOp("aten.a", "a", "float32[2]", "no lowering.", LINE),
        UnsupportedOp("aten.long_name", "b", "", "no lowering.", None, hint="use aten.a."),
    ]
    error = UnsupportedOpError(operations, target="trn1")
    assert str(error).splitlines() == [
        "2 operations cannot be compiled for neuron (target trn1)",
        "  aten.a           model.py:41   y = f(x)",
        "  aten.long_name   (no source line known)",
        "Why:  no lowering.",
        "Try:  use aten.a.",
        "      keep them out of the compiled region with torch.compiler.disable, or pass "
        'options={"fallback": "eager"}.',
    ]
    assert error.operations == tuple(operations)


def test_one_operation_is_not_plural() -> None:
    error = UnsupportedOpError([UnsupportedOp("aten.a", "a", "", "no.", LINE)])
    assert str(error).startswith("1 operation cannot be compiled for neuron (target host)\n")
