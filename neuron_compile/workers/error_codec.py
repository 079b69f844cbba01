"""Errors as JSON, and back as the same classes.

A table, not pickle: what a worker says can only become one of these. An error of any other class
arrives as a `ForeignError`, which keeps its type and text.
"""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final

from neuron_compile.codegen.legality.refusal import IllegalProgramError, Refusal
from neuron_compile.codegen.neuronx_cc.diagnose import CompilerError
from neuron_compile.errors import (
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
from neuron_compile.lowering.diagnostics import ConversionFailure, FailedNode

_Json = dict[str, Any]


class RemoteTraceback(Exception):  # noqa: N818 - never raised, only chained
    """The cause of an error that came from a worker: its traceback there, as text."""

    def __str__(self) -> str:
        return f"in a worker process:\n{self.args[0]}"


class ForeignError(Exception):
    """An error of a class that does not travel: `type_name` and `text` are what is known of it."""

    def __init__(self, type_name: str, text: str) -> None:
        self.type_name = type_name
        self.text = text
        super().__init__(f"{type_name}: {text}")


def encode_error(error: Exception) -> _Json:
    """`error` as plain JSON values, with its traceback as text."""
    encoded = {"traceback": "".join(traceback.format_exception(error))}
    for name, (kind, fields, _) in _CLASSES.items():
        if type(error) is kind:
            return {**encoded, "class": name, "fields": fields(error)}
    text = {"type_name": type(error).__qualname__, "text": str(error)}
    return {**encoded, "class": "ForeignError", "fields": text}


def decode_error(encoded: Mapping[str, Any]) -> Exception:
    """The error that `encode_error` was given, caused by a `RemoteTraceback`.

    Raises `ValueError` for what it did not write.
    """
    try:
        fields = encoded["fields"]
        if encoded["class"] == "ForeignError":
            error: Exception = ForeignError(fields["type_name"], fields["text"])
        else:
            _, _, build = _CLASSES[encoded["class"]]
            error = build(fields)
        error.__cause__ = RemoteTraceback(encoded["traceback"])
    except (KeyError, TypeError, AttributeError) as flaw:
        raise ValueError(f"not an encoded error: {encoded!r}") from flaw
    return error


def _parts(error: NeuronCompileError) -> _Json:
    return {"what": error.what, "where": error.where, "why": error.why, "hint": error.hint}


def _plain(kind: type[NeuronCompileError]) -> _Entry:
    def build(fields: _Json) -> NeuronCompileError:
        return kind(fields["what"], where=fields["where"], why=fields["why"], hint=fields["hint"])

    return kind, _parts, build


def _compiler_error(fields: _Json) -> CompilerError:
    return CompilerError(
        fields["what"],
        where=tuple(fields["where"]),
        why=fields["why"],
        hint=fields["hint"],
        codes=tuple(fields["codes"]),
        nodes=tuple(fields["nodes"]),
        output=fields["output"],
    )


def _compiler_error_fields(error: CompilerError) -> _Json:
    return {
        **_parts(error),
        "codes": error.codes,
        "nodes": error.nodes,
        "output": error.output,
    }


def _unsupported(fields: _Json) -> UnsupportedOpError:
    return UnsupportedOpError(
        [
            UnsupportedOp(**{**entry, "source": entry["source"] and SourceLine(**entry["source"])})
            for entry in fields["operations"]
        ],
        target=fields["target"],
    )


def _unsupported_fields(error: UnsupportedOpError) -> _Json:
    return {"operations": list(map(dataclasses.asdict, error.operations)), "target": error.target}


def _illegal(fields: _Json) -> IllegalProgramError:
    return IllegalProgramError(
        [Refusal(**{**entry, "nodes": tuple(entry["nodes"])}) for entry in fields["refusals"]],
        target=fields["target"],
    )


def _illegal_fields(error: IllegalProgramError) -> _Json:
    return {"refusals": list(map(dataclasses.asdict, error.refusals)), "target": error.target}


def _conversion_failure(fields: _Json) -> ConversionFailure:
    return ConversionFailure(tuple(FailedNode(*node) for node in fields["nodes"]), fields["detail"])


def _conversion_failure_fields(error: ConversionFailure) -> _Json:
    return {"nodes": list(map(dataclasses.astuple, error.nodes)), "detail": error.detail}


_Entry = tuple[type[Exception], Callable[[Any], _Json], Callable[[_Json], Exception]]

_CLASSES: Final[dict[str, _Entry]] = {
    "ConversionFailure": (ConversionFailure, _conversion_failure_fields, _conversion_failure),
    "UnsupportedOpError": (UnsupportedOpError, _unsupported_fields, _unsupported),
    "IllegalProgramError": (IllegalProgramError, _illegal_fields, _illegal),
    "CompilerError": (CompilerError, _compiler_error_fields, _compiler_error),
    **{
        kind.__name__: _plain(kind)
        for kind in (
            LoweringError,
            CodegenError,
            OptionsError,
            ArtifactError,
            DynamicShapesError,
            ExecutionError,
            EnvironmentMismatchError,
        )
    },
}
