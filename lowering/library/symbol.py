"""The name of a library function, from all that decides its body."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence

from neuron_compile.lowering.library.table import TABLE
from neuron_compile.lowering.program import TensorSpec


def library_symbol(
    operator: str,
    arguments: str,
    operands: Sequence[TensorSpec],
    results: Sequence[TensorSpec | None],
) -> str:
    """`lib_<op>_<digest>`: equal calls share it, so a graph holds each body once.

    Strides are left out, save for the few operators that depend on them: a program's tensors are
    dense, whatever layout PyTorch gives them.
    """
    entry = TABLE.get(operator)
    with_strides = entry is not None and entry.needs_strides
    types = [
        [None if spec is None else _content(spec, with_strides) for spec in specs]
        for specs in (operands, results)
    ]
    content = json.dumps([operator, arguments, *types], separators=(",", ":"))
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    name = re.sub(r"\W+", "_", operator.partition(".")[2].removesuffix(".default"))
    return f"lib_{name}_{digest}"


def _content(spec: TensorSpec, with_strides: bool) -> list[object]:
    return [spec.dtype, list(spec.shape), *([list(spec.strides)] if with_strides else [])]
