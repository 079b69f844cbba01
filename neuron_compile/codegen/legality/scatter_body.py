"""What a scatter does where an update meets the operand."""

from __future__ import annotations

from typing import Any, Final

OVERWRITE: Final = "overwrite"


def scatter_computation(operation: Any) -> str | None:
    """The name of the one operation that combines old and new (`add`), `overwrite`, or None."""
    block = operation.regions[0].blocks[0]
    body = [child.operation for child in block.operations]
    old, new = block.arguments[0], block.arguments[len(block.arguments) // 2]
    returned = list(body[-1].operands)
    if returned == list(block.arguments)[len(block.arguments) // 2 :]:
        return OVERWRITE
    if len(body) != 2 or returned != list(body[0].results):
        return None
    if set(body[0].operands) != {old, new}:
        return None
    return str(body[0].name).removeprefix("stablehlo.")
