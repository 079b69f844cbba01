"""`Signature` as JSON, so that it can be kept beside an artifact without a pickle."""

from __future__ import annotations

from typing import Any, Final

from neuron_compile.lowering.program import (
    ConstantResult,
    CopiedResult,
    InputResult,
    ResultSlot,
    RuntimeCheck,
    SameResult,
    Signature,
    TensorSpec,
    ViewResult,
)

_NUMBERED: Final[dict[str, Any]] = {
    "input": InputResult,
    "same": SameResult,
    "copied": CopiedResult,
}
_PLAIN: Final = (bool, int, float, str, type(None))


class UnstorableError(Exception):
    """A graph has something about it that is not plain data."""


def encode_signature(signature: Signature) -> dict[str, Any]:
    """A JSON object that `decode_signature` reads back.

    Raises `UnstorableError` for a constant result that JSON has no word for.
    """
    return {
        "inputs": [spec and spec.to_json() for spec in signature.inputs],
        "kept_inputs": list(signature.kept_inputs),
        "outputs": [spec.to_json() for spec in signature.outputs],
        "result_slots": [_encode_slot(slot) for slot in signature.result_slots],
        "seed_count": signature.seed_count,
        "checks": [[check.exception, check.message] for check in signature.checks],
    }


def decode_signature(value: dict[str, Any]) -> Signature:
    """Read what `encode_signature` wrote. Raises what malformed data makes Python raise."""
    return Signature(
        inputs=tuple(spec and TensorSpec.from_json(spec) for spec in value["inputs"]),
        kept_inputs=tuple(value["kept_inputs"]),
        outputs=tuple(TensorSpec.from_json(spec) for spec in value["outputs"]),
        result_slots=tuple(_decode_slot(slot) for slot in value["result_slots"]),
        seed_count=value["seed_count"],
        checks=tuple(RuntimeCheck(exception, message) for exception, message in value["checks"]),
    )


def _encode_slot(slot: ResultSlot) -> Any:
    match slot:
        case None | int():
            return slot
        case InputResult(argument):
            return {"input": argument}
        case SameResult(earlier):
            return {"same": earlier}
        case CopiedResult(earlier):
            return {"copied": earlier}
        case ViewResult(output, spec, offset):
            return {"view": [output, spec.to_json(), offset]}
        case ConstantResult(value):
            if type(value) not in _PLAIN:
                raise UnstorableError(f"a result is a {type(value).__name__}")
            return {"constant": value}


def _decode_slot(value: Any) -> ResultSlot:
    if value is None or isinstance(value, int):
        return value
    ((kind, content),) = value.items()
    if kind == "view":
        output, spec, offset = content
        return ViewResult(output, TensorSpec.from_json(spec), offset)
    if kind == "constant":
        return ConstantResult(content)
    slot: InputResult | SameResult | CopiedResult = _NUMBERED[kind](content)
    return slot
