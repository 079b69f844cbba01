"""What surveys found, as the table of `neuron-compile ops` and its page:
`PYTHONPATH=tests python -m ops.record SURVEY.jsonl...` with files that `ops.survey` wrote.

A later line about an entry and dtype replaces an earlier one; what no file speaks of stays. Routes
are found for the entries that the table does not have yet: delete it to find all of them anew.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import neuron_compile
from neuron_compile.operator_page import as_markdown
from neuron_compile.operator_support import DTYPES, OperatorSupport, Outcome, known_operators
from ops.entries import entries
from ops.entry_routes import routes_of
from ops.expectations import EXPECTATIONS, FIRST_RESULT, NOT_UNIQUE, RANDOM, UNINITIALISED
from ops.groups import group_of
from ops.outcome import EntryOutcome, Verdict

_TABLE: Final = Path(neuron_compile.__file__).with_name("operators.json")
_PAGE: Final = Path(neuron_compile.__file__).parents[1] / "docs" / "operators.md"
_WORDS: Final = {Verdict.WRONG: "inexact", Verdict.CRASHED: "failed", Verdict.SLOW: "failed"}


def main() -> None:
    """Write the table and the page."""
    known = {op.name: op for op in known_operators()} if _TABLE.exists() else {}
    found: dict[str, dict[str, Outcome]] = {name: dict(op.dtypes) for name, op in known.items()}
    for path in sys.argv[1:]:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            outcome = EntryOutcome.from_json(json.loads(line))
            found.setdefault(outcome.op, {})[outcome.dtype] = _in_words(outcome)
    rows = [_row(name, found[name], known.get(name)) for name in entries() if name in found]
    rows.sort(key=lambda row: (row.group, row.name))
    text = ",\n".join(json.dumps(row.to_json()) for row in rows)
    _TABLE.write_text(f"[\n{text}\n]\n", encoding="utf-8")
    _PAGE.write_text(as_markdown(rows), encoding="utf-8")


def notes_of(name: str, dtypes: Iterable[str]) -> list[str]:
    """What the side table of expectations says of an entry in these dtypes."""
    notes = [
        table[name] for table in (RANDOM, UNINITIALISED, NOT_UNIQUE, FIRST_RESULT) if name in table
    ]
    for expected in EXPECTATIONS.get(name, ()):
        concerned = [dtype for dtype in expected.dtypes if dtype in dtypes]
        if concerned or not expected.dtypes:
            where = f" ({', '.join(concerned)})" if concerned else ""
            notes.append(expected.reason + where)
    return notes


def _row(name: str, dtypes: dict[str, Outcome], known: OperatorSupport | None) -> OperatorSupport:
    op = entries()[name]
    routes, operators = (known.routes, known.operators) if known else routes_of(op)
    return OperatorSupport(
        name,
        group_of(name, op),
        tuple(routes),
        tuple(operators),
        tuple(notes_of(name, dtypes)),
        {dtype: dtypes[dtype] for dtype in DTYPES if dtype in dtypes},
    )


def _in_words(outcome: EntryOutcome) -> Outcome:
    return Outcome(
        str(_WORDS.get(outcome.forward, outcome.forward)),
        str(_WORDS.get(outcome.backward, outcome.backward)),
        outcome.right,
        outcome.samples,
    )


if __name__ == "__main__":
    main()
