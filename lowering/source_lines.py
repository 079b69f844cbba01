"""Which line of the user's program an FX node comes from."""

from __future__ import annotations

import re

from torch.fx import Node

from neuron_compile.lowering.errors import SourceLine

# Dynamo writes a node's origin as a Python traceback, outermost frame first.
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in [^\n]*(?:\n[ \t]+([^\n]+))?')


def source_line(node: Node) -> SourceLine | None:
    """The innermost frame that Dynamo recorded for `node`, or None if it recorded none."""
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    if not frames:
        return None
    file, line, text = frames[-1]
    return SourceLine(file, int(line), text.strip())
