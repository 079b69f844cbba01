"""What a whole run measured, in memory and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.protocol import Measurement

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One process: in which round it ran a case under a backend, and what came of it.

    `had_empty_caches` tells a cold start from a warm one; `error` is empty or says in a line why
    there is no measurement.
    """

    case: str
    backend: str
    round: int
    had_empty_caches: bool
    measurement: Measurement
    error: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        return {
            "case": self.case,
            "backend": self.backend,
            "round": self.round,
            "had_empty_caches": self.had_empty_caches,
            "error": self.error,
            **self.measurement.to_json(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Entry:
        """Read what `to_json` wrote."""
        return cls(
            value["case"],
            value["backend"],
            value["round"],
            value["had_empty_caches"],
            Measurement.from_json(value),
            value["error"],
        )


@dataclass(slots=True)
class Results:
    """Entries in the order in which they were measured, with what describes the run: the machine,
    versions, settings."""

    about: dict[str, Any] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)

    def cases(self) -> Iterable[str]:
        """The names of the cases, in the order of their first entries."""
        return dict.fromkeys(entry.case for entry in self.entries)

    def of(self, case: str, backend: str) -> Iterator[Entry]:
        """The entries of a case under a backend."""
        return (e for e in self.entries if (e.case, e.backend) == (case, backend))

    def save(self, file: Path) -> None:
        """Write as JSON."""
        content = {
            "format": _FORMAT,
            "about": self.about,
            "entries": [entry.to_json() for entry in self.entries],
        }
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(content, indent=1) + "\n")

    @classmethod
    def load(cls, file: Path) -> Results:
        """Read what `save` wrote. Raises `ValueError` for another format."""
        content = json.loads(file.read_text())
        if content.get("format") != _FORMAT:
            raise ValueError(f"{file} is not a result file of this version")
        return cls(content["about"], [Entry.from_json(entry) for entry in content["entries"]])
