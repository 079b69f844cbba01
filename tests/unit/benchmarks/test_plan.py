from __future__ import annotations

import dataclasses

import pytest

from benchmarks.cases.listing import CASES
from benchmarks.plan import FULL, QUICK, Plan


@pytest.mark.parametrize("plan, minutes", [(QUICK, 5), (FULL, 40)], ids=["quick", "full"])
def test_plans_name_cases_and_keep_to_their_minutes(plan: Plan, minutes: int) -> None:
    assert set(plan.cases) <= set(CASES)
    assert plan.budget < minutes * 60


def test_the_full_plan_has_every_case() -> None:
    assert set(FULL.cases) == set(CASES)


def test_a_case_runs_under_the_backends_for_which_it_makes_sense() -> None:
    plan = dataclasses.replace(QUICK, cases=("overhead", "mlp"), backends=("eager", "inductor"))
    assert list(plan.order(1)) == [("overhead", ()), ("mlp", ("inductor", "eager"))]
