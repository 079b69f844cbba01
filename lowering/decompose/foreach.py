"""`_foreach_*`: one operator over lists of tensors, as optimizers use it, taken apart.

The list forms save kernel launches in eager PyTorch; a program has none to save.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch._ops import OpOverload

_aten = torch.ops.aten

# Where the operator on one tensor does not have the name behind `_foreach_`.
_ONE_TENSOR: Final[dict[str, Callable[..., Any]]] = {
    "_foreach_maximum.Scalar": _aten.clamp_min,
    "_foreach_maximum.ScalarList": _aten.clamp_min,
    "_foreach_minimum.Scalar": _aten.clamp_max,
    "_foreach_minimum.ScalarList": _aten.clamp_max,
    "_foreach_norm.Scalar": lambda x, ord=2, dtype=None: _aten.linalg_vector_norm(  # noqa: A006
        x, ord, dtype=dtype
    ),
    "_foreach_zero.default": _aten.zeros_like,
    "_foreach_copy.default": lambda x, source, non_blocking=False: _aten.copy(
        x, source, non_blocking
    ),
}
_LIST_TYPES: Final = ("List[Tensor]", "List[number]")


def foreach_decompositions() -> dict[OpOverload, Callable[..., Any]]:
    """A rule for every functional `_foreach_*` overload whose operator on one tensor exists."""
    table: dict[OpOverload, Callable[..., Any]] = {}
    for full_name in torch._C._dispatch_get_all_op_names():
        name, _, overload = full_name.removeprefix("aten::").partition(".")
        if name.startswith("_foreach_") and not name.endswith("_") and "out" not in overload:
            operator = getattr(getattr(_aten, name), overload or "default")
            one = _one_tensor(name, overload or "default")
            if one is not None:
                table[operator] = _rule(operator, one)
    return table


def _one_tensor(name: str, overload: str) -> Callable[..., Any] | None:
    found: Callable[..., Any] | None = _ONE_TENSOR.get(f"{name}.{overload}") or getattr(
        _aten, name.removeprefix("_foreach_"), None
    )
    return found


def _rule(operator: OpOverload, one: Callable[..., Any]) -> Callable[..., Any]:
    schema = operator._schema
    listed = {argument.name for argument in schema.arguments if str(argument.type) in _LIST_TYPES}
    names = [argument.name for argument in schema.arguments]
    # addcdiv and addcmul also take one tensor that holds a number for each entry.
    unbound = {"scalars"} if schema.overload_name == "Tensor" else set()

    def rule(*args: Any, **kwargs: Any) -> list[torch.Tensor]:
        given = dict(zip(names, args, strict=False)) | kwargs
        for entry in unbound & given.keys():
            given[entry] = list(given[entry].unbind())
        spread = (listed | unbound) & given.keys()
        count = next(len(given[entry]) for entry in names if entry in listed)
        results = []
        for index in range(count):
            values = {k: v[index] if k in spread else v for k, v in given.items()}
            results.append(_apply(one, names, values))
        return results

    return rule


def _apply(one: Callable[..., Any], names: list[str], values: dict[str, Any]) -> Any:
    keyword = {k: values[k] for k in ("alpha", "dtype", "ord", "non_blocking") if k in values}
    scale = values.get("value", values.get("scalars"))
    positional = [
        values[name]
        for name in names
        if name in values and name not in keyword and name not in ("value", "scalars")
    ]
    if one in (_aten.addcmul, _aten.addcdiv):
        if isinstance(scale, torch.Tensor):
            start, left, right = positional
            product = left * right if one is _aten.addcmul else left / right
            return start + scale * product
        return one(*positional, value=1 if scale is None else scale)
    if scale is not None:
        positional.append(scale)
    return one(*positional, **keyword)
