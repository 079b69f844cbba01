"""What reports and messages call the thing that is being compiled."""

from __future__ import annotations

import inspect
from types import CodeType
from typing import Final

from torch._guards import TracingContext

_FORWARD: Final = ".forward"


def model_name() -> str:
    """The class of the module, or the name of the function, that Dynamo is compiling.

    Dynamo keeps no reference to it, but lists the code it has traced: the root's first, then what
    that calls, inner before outer.
    """
    context = TracingContext.try_get()
    traced: list[CodeType] = context.traced_code if context is not None else []
    if not traced:
        return "function"
    root = traced[0]
    if _is_wrapper(root):
        root = next((code for code in reversed(traced) if _is_forward(code)), root)
    if _is_forward(root):
        return root.co_qualname.removesuffix(_FORWARD).rpartition(".")[2]
    return root.co_name if root.co_name.isidentifier() else "function"


def _is_forward(code: CodeType) -> bool:
    return code.co_qualname.endswith(_FORWARD)


def _is_wrapper(code: CodeType) -> bool:
    """Whether it looks like a decorator's: passes on whatever it gets to what it closes over."""
    return bool(code.co_flags & inspect.CO_VARARGS and code.co_freevars)
