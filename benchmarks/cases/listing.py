"""Every case by name."""

from __future__ import annotations

from benchmarks.cases.case import Case
from benchmarks.cases.model import ModelCase
from benchmarks.workloads.listing import NAMES, workload_named


def case_named(name: str) -> Case:
    """The case. Raises `KeyError` for a name that no case has."""
    return ModelCase(workload_named(name))


CASES = tuple(NAMES)
