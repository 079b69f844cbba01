"""Which entries are not expected to be right, and why. Strict: see `test_operators`."""

from __future__ import annotations

from typing import Final

# The numbers are random: shapes and dtypes are compared. Distributions have tests of their own.
_RANDOM: Final = frozenset()

# Results are not unique (signs, phases): compared as the entry itself processes them.
_NOT_UNIQUE: Final = frozenset()


def is_random(name: str) -> bool:
    """Whether the entry's numbers are random."""
    return name in _RANDOM


def is_unique(name: str) -> bool:
    """Whether the entry's results are determined by its arguments."""
    return name not in _NOT_UNIQUE
