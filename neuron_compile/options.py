"""What users pass as `options={...}`, validated."""

from __future__ import annotations

import dataclasses
import difflib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from neuron_compile.errors import OptionsError
from neuron_compile.settings import Settings, parse_size
from neuron_compile.target import HOST, TARGETS, Target


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of one torch.compile call.

    - `target`: `"host"` (default), `"trn1"`, `"trn1n"`, `"trn2"`, `"trn3"` or `"inf2"`.
    - `execute`: `"target"` (default) runs what was compiled; `"host"` compiles for the device and
      computes the values on this CPU, from the program that the device would get.
    - `fallback`: what to do with operations that cannot be lowered: `"raise"` (default) fails,
      `"eager"` runs those operations, and no others, in eager PyTorch.
    - `float64`: `"demote"` (default) computes in float32 with a warning, `"error"` refuses.
    - `optimization_level`: 1 compiles fastest, 3 runs fastest; default 2.
    - `auto_cast`: which operations round their float32 operands, `"none"` (default), `"matmult"` or
      `"all"`, to `auto_cast_type`: `"bf16"` (default), `"fp16"`, `"tf32"` or `"fp8_e4m3"`. By
      neuronx-cc for devices, emulated on the host.
    - `model_type`: what neuronx-cc optimizes for: `"generic"` (default), `"transformer"` or
      `"unet-inference"`.
    - `lnc`: physical cores that make one logical core, 1 or 2; default 2 on trn2 and trn3, else 1.
    - `model_name`: the name in reports and messages; it enters no cache key.
    - `bounds_checks`: raise as eager does for indices out of range and integer division by zero
      (default true; host target only).
    - `workers`: processes that compile, so that a crash of a compiler is an error; default 2; 0
      compiles in the calling process.
    - `memory_limit`: memory that compiling one graph may take, in bytes or as text (`"8GB"`);
      default 80 % of the machine's; 0 for no limit.
    - `time_limit`: seconds that each of lowering and code generation of one graph may take; default
      600 on the host and no limit for neuronx-cc; 0 for no limit.
    """

    target: str = HOST.name
    execute: str = "target"
    fallback: str = "raise"
    float64: str = "demote"
    optimization_level: int = 2
    auto_cast: str = "none"
    auto_cast_type: str = "bf16"
    model_type: str = "generic"
    lnc: int | None = None
    model_name: str | None = None
    bounds_checks: bool = True
    workers: int = 2
    memory_limit: int | None = None
    time_limit: float | None = None

    @classmethod
    def from_user(cls, given: Mapping[str, Any] | None, settings: Settings) -> CompileOptions:
        """Options from the user's mapping over the environment's defaults.

        `None` for an option whose default that is means that default. Raises `OptionsError` naming
        every unknown or ill-typed entry, with near matches.
        """
        values = {**_defaults(settings), **_chosen(given or {})}
        problems = [problem for name, value in values.items() if (problem := _problem(name, value))]
        if problems:
            raise OptionsError(
                f"{len(problems)} option{'s' * (len(problems) > 1)} of torch.compile cannot be "
                "used",
                where=problems,
                why="backend neuron checks its options so that a misspelt one does not pass "
                "unnoticed.",
                hint=f"the options are {', '.join(sorted(_NAMES))}.",
            )
        for name, (parse, _) in _NUMBERS.items():
            if name in values:
                values[name] = parse(values[name])
        options = cls(**values)
        if settings.compile_only and not options.compile_target.is_device:
            raise OptionsError(
                "TORCH_NEURONX_COMPILE_ONLY is set, and the target is the host",
                why="it asks for NEFFs for a device, of which none is named.",
                hint="set NEURON_PLATFORM_TARGET_OVERRIDE=trn2, or unset it.",
            )
        return options

    @property
    def compile_target(self) -> Target:
        """The target as a `Target`."""
        return TARGETS[self.target]

    @property
    def is_compile_only(self) -> bool:
        """Whether NEFFs are made for a device, and values computed on the host."""
        return self.execute == "host" and self.compile_target.is_device


# Name -> the values it may take: a tuple of them, or a type.
_CHOICES: Final[dict[str, tuple[Any, ...] | type]] = {
    "target": tuple(TARGETS),
    "execute": ("target", "host"),
    "fallback": ("raise", "eager"),
    "float64": ("demote", "error"),
    "optimization_level": (1, 2, 3),
    "auto_cast": ("none", "matmult", "all"),
    "auto_cast_type": ("bf16", "fp16", "tf32", "fp8_e4m3"),
    "model_type": ("generic", "transformer", "unet-inference"),
    "lnc": (1, 2),
    "model_name": str,
    "bounds_checks": (True, False),
}


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _bytes(value: Any) -> int | None:
    return parse_size(value) if isinstance(value, str) else _count(value)


def _seconds(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= sys.float_info.max else None


# Name -> what makes a number of the given value, or None if it cannot; what it may be, in words.
_NUMBERS: Final[dict[str, tuple[Callable[[Any], float | None], str]]] = {
    "workers": (_count, "a whole number of processes"),
    "memory_limit": (_bytes, 'a number of bytes or a size such as "8GB"'),
    "time_limit": (_seconds, "a number of seconds"),
}
_NAMES: Final = {*_CHOICES, *_NUMBERS}
_UNSET: Final = {
    field.name for field in dataclasses.fields(CompileOptions) if field.default is None
}
assert {field.name for field in dataclasses.fields(CompileOptions)} == _NAMES


def _defaults(settings: Settings) -> dict[str, Any]:
    """What the environment says about options."""
    values = {
        "target": settings.target,
        "execute": "host" if settings.compile_only else None,
        "workers": settings.workers,
        "memory_limit": settings.memory_limit_bytes,
        "time_limit": settings.time_limit_seconds,
    }
    return {name: value for name, value in values.items() if value is not None}


def _chosen(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not None or name not in _UNSET}


def _problem(name: str, value: Any) -> str | None:
    if name not in _NAMES:
        near = difflib.get_close_matches(str(name), _NAMES, n=1)
        return f"{name}: unknown" + (f", did you mean {near[0]!r}?" if near else "")
    if name in _NUMBERS:
        parse, expected = _NUMBERS[name]
        return None if parse(value) is not None else f"{name}: {value!r} is not {expected}"
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
