"""Which cases of a long list run always, and which in the slow tier only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def slow_unless(quick: Sequence[Any], cases: Sequence[Any]) -> list[Any]:
    """`cases` for `pytest.mark.parametrize`, those not in `quick` marked slow."""
    assert all(case in cases for case in quick), "a quick case is not among the cases"
    return [pytest.param(*case, marks=() if case in quick else pytest.mark.slow) for case in cases]
