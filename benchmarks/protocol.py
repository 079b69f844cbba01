"""What passes between the runner and the process that measures, as JSON files."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.series import Series


@dataclass(frozen=True, slots=True)
class Request:
    """Measure `case` under `backend`: at a scale (`tiny`, `quick` or `full`), for about `seconds`
    each series."""

    case: str
    backend: str
    scale: str
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Request:
        """Read what `to_json` wrote."""
        return cls(**value)


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a process measured: series by name, and numbers that are no time (`peak_bytes ...`,
    `flops ...`)."""

    series: dict[str, Series] = field(default_factory=dict)
    facts: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        series = {name: series.to_json() for name, series in self.series.items()}
        return {"series": series, "facts": self.facts}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Measurement:
        """Read what `to_json` wrote."""
        series = {name: Series.from_json(series) for name, series in value["series"].items()}
        return cls(series, dict(value["facts"]))
