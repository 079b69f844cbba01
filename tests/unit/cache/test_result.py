"""Seconds saved."""

from __future__ import annotations

import pytest

from neuron_compile.cache import ActionResult, Outcome


@pytest.mark.parametrize(
    "outcome, lookup_seconds, saved",
    [
        (Outcome.HIT, 1.0, 59.0),
        (Outcome.REMOTE_HIT, 20.0, 40.0),
        (Outcome.HIT, 100.0, 0.0),
        (Outcome.PRODUCED, 1.0, 0.0),
        (Outcome.UNCACHED, 1.0, 0.0),
    ],
)
def test_a_hit_saves_the_work_less_the_look_up(
    outcome: Outcome, lookup_seconds: float, saved: float
) -> None:
    assert ActionResult({}, outcome, 60.0, lookup_seconds).seconds_saved == saved
