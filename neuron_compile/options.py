"""What users pass as `options={...}`, validated."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from neuron_compile.errors import OptionsError
from neuron_compile.settings import Settings
from neuron_compile.target import HOST, TARGETS, Target


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of one torch.compile call.

    - `target`: `"host"` (default), `"trn1"`, `"trn1n"`, `"trn2"`, `"trn3"` or `"inf2"`.
    - `fallback`: what to do with operations that cannot be lowered: `"raise"` (default) fails,
      `"eager"` runs those operations, and no others, in eager PyTorch.
    - `float64`: `"demote"` (default) computes in float32 with a warning, `"error"` refuses.
    - `optimization_level`: 1 compiles fastest, 3 runs fastest; default 2.
    - `model_name`: the name in reports and messages; it enters no cache key.
    - `bounds_checks`: raise as eager does for indices out of range and integer division by zero
      (default true; host target only).
    """

    target: str = HOST.name
    fallback: str = "raise"
    float64: str = "demote"
    optimization_level: int = 2
    model_name: str | None = None
    bounds_checks: bool = True

    @classmethod
    def from_user(cls, given: Mapping[str, Any] | None, settings: Settings) -> CompileOptions:
        """Options from the user's mapping over the environment's defaults.

        Raises `OptionsError` naming every unknown or ill-typed entry, with near matches.
        """
        values = dict(given or {})
        if settings.target is not None:
            values.setdefault("target", settings.target)
        problems = [problem for name, value in values.items() if (problem := _problem(name, value))]
        if problems:
            raise OptionsError(
                f"{len(problems)} option{'s' * (len(problems) > 1)} of torch.compile cannot be "
                "used",
                where=problems,
                why="backend neuron checks its options so that a misspelt one does not pass "
                "unnoticed.",
                hint=f"the options are {', '.join(sorted(_CHOICES))}.",
            )
        return cls(**values)

    @property
    def compile_target(self) -> Target:
        """The target as a `Target`."""
        return TARGETS[self.target]


# Name -> the values it may take: a tuple of them, or a type.
_CHOICES: Final[dict[str, tuple[Any, ...] | type]] = {
    "target": tuple(TARGETS),
    "fallback": ("raise", "eager"),
    "float64": ("demote", "error"),
    "optimization_level": (1, 2, 3),
    "model_name": str,
    "bounds_checks": (True, False),
}
assert set(_CHOICES) == {field.name for field in dataclasses.fields(CompileOptions)}


def _problem(name: str, value: Any) -> str | None:
    if name not in _CHOICES:
        near = difflib.get_close_matches(str(name), _CHOICES, n=1)
        return f"{name}: unknown" + (f", did you mean {near[0]!r}?" if near else "")
    choices = _CHOICES[name]
    if isinstance(choices, type):
        return None if isinstance(value, choices) else f"{name}: {value!r} is not a string"
    # True is 1 to `in`, but not to a reader.
    if any(value == choice and type(value) is type(choice) for choice in choices):
        return None
    near = difflib.get_close_matches(str(value), [str(choice) for choice in choices], n=1)
    listed = ", ".join(map(repr, choices))
    suffix = f", did you mean {near[0]!r}?" if near else ""
    return f"{name}: {value!r} is not one of {listed}{suffix}"
