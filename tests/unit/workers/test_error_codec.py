"""Errors cross processes as the classes they are, with all that handlers look at."""

from __future__ import annotations

import json
from typing import Any

import pytest

import neuron_compile
from neuron_compile import (
    ArtifactError,
    CodegenError,
    DynamicShapesError,
    EnvironmentMismatchError,
    ExecutionError,
    LoweringError,
    NeuronCompileError,
    OptionsError,
    SourceLine,
    UnsupportedOp,
    UnsupportedOpError,
)
from neuron_compile.codegen.legality.refusal import (
    IllegalProgramError,
    LocatedCodegenError,
    Refusal,
)
from neuron_compile.codegen.neuronx_cc.diagnose import CompilerError
from neuron_compile.lowering.diagnostics import ConversionFailure, FailedNode
from neuron_compile.workers.error_codec import ForeignError, decode_error, encode_error

PLAIN = (
    LoweringError,
    CodegenError,
    OptionsError,
    ArtifactError,
    DynamicShapesError,
    ExecutionError,
    EnvironmentMismatchError,
)


# The class of all of them, and what only the process with the cache raises.
ON_THIS_SIDE = {"NeuronCompileError", "CacheMissError"}


def sent(error: Exception) -> Any:
    try:
        raise error
    except Exception as raised:
        return decode_error(json.loads(json.dumps(encode_error(raised))))


@pytest.mark.parametrize("kind", PLAIN)
def test_plain_errors_keep_their_four_parts(kind: type[NeuronCompileError]) -> None:
    error = sent(kind("what", where=("a", "b"), why="why.", hint="hint."))
    assert type(error) is kind
    assert (error.what, error.where, error.why, error.hint) == ("what", ("a", "b"), "why.", "hint.")
    assert str(error) == str(kind("what", where=("a", "b"), why="why.", hint="hint."))


def test_conversion_failure_keeps_its_nodes() -> None:
    nodes = (FailedNode(3, "torch.aten.cos", "no"), FailedNode(7, "lib_1", "why"))
    error = sent(ConversionFailure(nodes, "all that was said"))
    assert type(error) is ConversionFailure
    assert (error.nodes, error.detail) == (nodes, "all that was said")


@pytest.mark.parametrize("source", [None, SourceLine("m.py", 3, "x.sort()")])
def test_unsupported_operations_keep_their_lines(source: SourceLine | None) -> None:
    operations = (UnsupportedOp("aten.x", "x", "f32[2]", "because", source, "try"),)
    error = sent(UnsupportedOpError(operations, target="trn2"))
    assert error.operations == operations
    assert error.target == "trn2"


def test_refusals_of_a_device_keep_their_node_numbers() -> None:
    refusals = (Refusal("EVRF011", "stablehlo.convolution", (4, 5), "why", "way out"),)
    error = sent(IllegalProgramError(refusals, target="trn2"))
    assert type(error) is IllegalProgramError
    assert error.refusals == refusals
    assert error.nodes == (4, 5)
    lines = {4: SourceLine("m.py", 9, "conv(x)")}
    assert "m.py:9" in str(error.located(lines.get))


def test_failed_run_of_the_compiler_keeps_codes_nodes_and_output() -> None:
    original = CompilerError(
        "what", why="why", hint="hint", where=("w",), codes=("EVRF001",), nodes=(2,), output="log"
    )
    error = sent(original)
    assert type(error) is CompilerError
    assert isinstance(error, LocatedCodegenError)
    assert (error.codes, error.nodes, error.output) == (("EVRF001",), (2,), "log")


def test_error_of_another_class_keeps_type_and_text() -> None:
    error = sent(ZeroDivisionError("by zero"))
    assert type(error) is ForeignError
    assert (error.type_name, error.text) == ("ZeroDivisionError", "by zero")


def test_subclass_that_is_not_listed_is_not_taken_for_its_parent() -> None:
    class Special(LoweringError):
        pass

    assert type(sent(Special("what"))) is ForeignError


def test_traceback_of_the_other_process_is_chained() -> None:
    error = sent(LoweringError("what"))
    assert "in a worker process" in str(error.__cause__)
    assert "test_error_codec.py" in str(error.__cause__)


@pytest.mark.parametrize(
    "encoded",
    [
        {},
        {"class": "SystemExit", "fields": {}, "traceback": ""},
        {"class": "LoweringError", "fields": {"what": "x"}, "traceback": ""},
        {"class": "LoweringError", "fields": None, "traceback": ""},
        {"class": "ForeignError", "fields": {}, "traceback": ""},
    ],
)
def test_what_is_no_error_is_refused(encoded: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not an encoded error"):
        decode_error(encoded)


def test_every_public_error_travels_or_belongs_to_this_side() -> None:
    public = [getattr(neuron_compile, name) for name in neuron_compile.__all__]
    errors = {
        entry
        for entry in public
        if isinstance(entry, type) and issubclass(entry, NeuronCompileError)
    }
    travelling = {*PLAIN, UnsupportedOpError}
    assert {kind.__name__ for kind in errors - travelling} <= ON_THIS_SIDE
