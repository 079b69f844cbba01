"""What came of one entry in one dtype, as plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    """Of one sample in one direction, or of all of an entry's samples."""

    RIGHT = "right"
    WRONG = "wrong"
    """Another number, shape or type than eager's, and no error: the worst that can happen."""
    REFUSED = "refused"
    """`UnsupportedOpError` or `DynamicShapesError`."""
    DEPENDS = "depends on data"
    """PyTorch itself cannot trace the call, since a shape or a Python value depends on data;
    torch.compile leaves it to eager by a graph break."""
    FAILED = "failed"
    """Any other exception."""
    CRASHED = "crashed"
    """The process died."""
    SLOW = "slow"
    """The time limit ran out."""
    NONE = "none"
    """Nothing to compare: eager has no gradient here, or refuses every sample."""


_WORST_FIRST = (
    Verdict.CRASHED,
    Verdict.SLOW,
    Verdict.WRONG,
    Verdict.FAILED,
    Verdict.REFUSED,
    Verdict.DEPENDS,
    Verdict.RIGHT,
    Verdict.NONE,
)


@dataclass
class EntryOutcome:
    """`forward` and `backward` are the worst verdicts over the samples; `right` counts samples that
    are right in both directions; `errors` holds one line for each sample that is not, by index."""

    op: str
    dtype: str
    forward: Verdict = Verdict.NONE
    backward: Verdict = Verdict.NONE
    samples: int = 0
    right: int = 0
    seconds: float = 0.0
    errors: dict[str, str] = field(default_factory=dict)

    @property
    def is_right(self) -> bool:
        """Whether every sample is right, forward and backward."""
        return {self.forward, self.backward} <= {Verdict.RIGHT, Verdict.NONE}

    def add(self, index: int, forward: Verdict, backward: Verdict, error: str = "") -> None:
        """Enter one sample."""
        self.samples += 1
        self.forward = worst(self.forward, forward)
        self.backward = worst(self.backward, backward)
        if {forward, backward} <= {Verdict.RIGHT, Verdict.NONE}:
            self.right += 1
        elif error:
            self.errors[str(index)] = error[:400]

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> EntryOutcome:
        """Read what `to_json` wrote."""
        plain = {
            **value,
            "forward": Verdict(value["forward"]),
            "backward": Verdict(value["backward"]),
        }
        return cls(**plain)


def worst(first: Verdict, second: Verdict) -> Verdict:
    """The one that is worse."""
    return min(first, second, key=_WORST_FIRST.index)
