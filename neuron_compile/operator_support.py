"""What is known of each operator of PyTorch's database: its route, and whether it was right.

The numbers come from a survey of all operators against eager PyTorch; see CONTRIBUTING.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Final

DTYPES: Final = (
    "float32", "bfloat16", "float16", "complex64", "int64", "int32", "uint8", "bool",
)  # fmt: skip
_FILE: Final = "operators.json"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one operator in one dtype. `forward` and `backward` are `"right"`, `"refused"`,
    `"inexact"` (beyond PyTorch's tolerance of eager's result), `"depends on data"`, `"failed"`, or
    `"none"` where eager has nothing to compare; `right` of `samples` calls were right in both."""

    forward: str
    backward: str
    right: int
    samples: int

    @property
    def is_right(self) -> bool:
        """Whether all that can be compared is as in eager."""
        return {self.forward, self.backward} <= {"right", "none"}


@dataclass(frozen=True, slots=True)
class OperatorSupport:
    """One operator: `group` is a section of PyTorch's documentation, `routes` the ways that its
    parts take to StableHLO, `operators` the ATen operators it is traced as, `notes` what is known
    of it that the outcomes do not say."""

    name: str
    group: str
    routes: tuple[str, ...]
    operators: tuple[str, ...]
    notes: tuple[str, ...]
    dtypes: Mapping[str, Outcome] = field(default_factory=dict)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> OperatorSupport:
        """Read what `to_json` wrote."""
        return cls(
            value["name"],
            value["group"],
            tuple(value["routes"]),
            tuple(value["operators"]),
            tuple(value["notes"]),
            {dtype: Outcome(*outcome) for dtype, outcome in value["dtypes"].items()},
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        return {
            "name": self.name,
            "group": self.group,
            "routes": list(self.routes),
            "operators": list(self.operators),
            "notes": list(self.notes),
            "dtypes": {
                dtype: [found.forward, found.backward, found.right, found.samples]
                for dtype, found in self.dtypes.items()
            },
        }


def known_operators() -> list[OperatorSupport]:
    """Every operator of the survey, by group and name."""
    text = files("neuron_compile").joinpath(_FILE).read_text(encoding="utf-8")
    return [OperatorSupport.from_json(value) for value in json.loads(text)]


def search(operators: Sequence[OperatorSupport], words: Sequence[str]) -> list[OperatorSupport]:
    """Those in whose name, group, routes, ATen operators or notes each of the words occurs."""

    def text(operator: OperatorSupport) -> str:
        parts = (operator.name, operator.group, *operator.routes, *operator.operators)
        return "\n".join((*parts, *operator.notes)).casefold()

    return [op for op in operators if all(word.casefold() in text(op) for word in words)]


def dtypes_in_short(operator: OperatorSupport, direction: str) -> str:
    """The dtypes that are right in a direction (`"forward"` or `"backward"`), and the others with
    what became of them: `float32 bfloat16, int64 refused`."""
    found = {dtype: getattr(operator.dtypes[dtype], direction) for dtype in _in_order(operator)}
    right = " ".join(dtype for dtype, verdict in found.items() if verdict == "right")
    others = [f"{dtype} {verdict}" for dtype, verdict in found.items() if verdict not in _QUIET]
    return ", ".join([right, *others] if right else others)


_QUIET: Final = ("right", "none")


def _in_order(operator: OperatorSupport) -> list[str]:
    return [dtype for dtype in DTYPES if dtype in operator.dtypes]
