"""The custom call of a kernel that the host's runtime provides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo


def host_call(
    kernel: str, description: str, operands: Sequence[Any], results: Sequence[Any]
) -> Any:
    """An operation of these result types at the insertion point. `kernel` is one of
    `pjrt.host_kernels`, and reads the description."""
    # API version 4 is the typed interface, whose configuration is a dictionary.
    return stablehlo.CustomCallOp(
        list(results),
        list(operands),
        kernel,
        backend_config=ir.DictAttr.get({"description": ir.StringAttr.get(description)}),
        api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
    )
