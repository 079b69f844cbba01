"""Every operator of PyTorch's database, forward and backward, against eager.

`entries() x dtypes`: a small tier always, all of them with `-m complete`. A failure names the
command that repeats it.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ops.entries import cases, entries
from ops.expectations import (
    EXPECTATIONS,
    FIRST_RESULT,
    NOT_UNIQUE,
    RANDOM,
    UNINITIALISED,
    Expectation,
    compared_results,
    counted_values,
    expectation,
)
from ops.outcome import EntryOutcome, Verdict
from ops.process import Process
from ops.representative import REPRESENTATIVE


@pytest.fixture(scope="session")
def process() -> Iterator[Process]:
    own = Process()
    yield own
    own.close()


def parameters() -> Iterator[object]:
    for name, dtype in cases():
        marks = () if (name, dtype) in REPRESENTATIVE else (pytest.mark.complete,)
        yield pytest.param(name, dtype, marks=marks, id=f"{name}-{dtype}")


@pytest.mark.parametrize(("name", "dtype"), list(parameters()))
def test_operator(process: Process, name: str, dtype: str) -> None:
    expected = expectation(name, dtype)
    outcome = process.examine(
        name, dtype, values=counted_values(name), compared=compared_results(name)
    )
    if expected is None:
        assert outcome.is_right, report(outcome)
        return
    assert not outcome.is_right, f"{name} {dtype} is right, and not expected to be"
    found = {outcome.forward, outcome.backward}
    if expected.outcome == "inexact":
        wide = process.examine(
            name,
            dtype,
            values=counted_values(name),
            compared=compared_results(name),
            tolerance=expected.tolerance,
        )
        assert wide.is_right, report(wide)
    else:
        assert found <= ALLOWED[expected.outcome], report(outcome)


ALLOWED = {
    "ambiguous": {Verdict.WRONG, Verdict.RIGHT, Verdict.NONE},
    "unsupported": {Verdict.REFUSED, Verdict.RIGHT, Verdict.NONE},
    "excluded": {Verdict.REFUSED, Verdict.DEPENDS, Verdict.FAILED, Verdict.RIGHT, Verdict.NONE},
}


def report(outcome: EntryOutcome) -> str:
    """What went wrong, and how to see it again."""
    lines = [
        f"{outcome.op} {outcome.dtype}: forward {outcome.forward}, backward {outcome.backward}, "
        f"{outcome.right} of {outcome.samples} samples right"
    ]
    lines += [f"  sample {index}: {error}" for index, error in outcome.errors.items()]
    first = next((index for index in outcome.errors if index != "-1"), None)
    only = f" --sample {first}" if first else ""
    lines.append(
        f"repeat it: PYTHONPATH=tests python -m ops.survey --op {outcome.op} --dtype "
        f"{outcome.dtype}{only}"
    )
    return "\n".join(lines)


@pytest.mark.parametrize("table", [EXPECTATIONS, RANDOM, UNINITIALISED, NOT_UNIQUE, FIRST_RESULT])
def test_every_expectation_names_an_entry_and_a_reason(table: dict[str, object]) -> None:
    unknown = sorted(set(table) - set(entries()))
    assert not unknown
    for reasons in table.values():
        for given in reasons if isinstance(reasons, tuple) else (reasons,):
            reason = given.reason if isinstance(given, Expectation) else given
            assert reason


def test_the_representative_tier_names_cases() -> None:
    assert set(cases()) >= REPRESENTATIVE
