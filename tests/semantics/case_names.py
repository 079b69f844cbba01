"""Readable ids for tests that are parametrized with small functions."""

from __future__ import annotations

import linecache
from types import FunctionType
from typing import Any


def source_text(case: Any) -> str | None:
    """The body of a lambda as it is written, or the name of another function."""
    if not isinstance(case, FunctionType):
        return None
    if case.__name__ != "<lambda>":
        return case.__name__
    starts, ends = set(), set()
    for line, end_line, column, end_column in case.__code__.co_positions():
        if line and end_line and column and end_column:
            starts.add((line, column))
            ends.add((end_line, end_column))
    (first_line, first_column), (last_line, last_column) = min(starts), max(ends)
    lines = linecache.getlines(case.__code__.co_filename)[first_line - 1 : last_line]
    lines[-1] = lines[-1][:last_column]
    lines[0] = lines[0][first_column:]
    return " ".join("".join(lines).split())
