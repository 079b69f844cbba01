"""The stored table of operators agrees with the database and with the side table."""

from __future__ import annotations

from neuron_compile.operator_support import known_operators
from ops.entries import entries
from ops.groups import group_of
from ops.record import notes_of


def test_every_entry_is_in_the_table_under_its_heading() -> None:
    stored = {operator.name: operator.group for operator in known_operators()}
    for name, group in stored.items():
        assert group == group_of(name, entries()[name])


def test_notes_are_those_of_the_expectations() -> None:
    for operator in known_operators():
        assert list(operator.notes) == notes_of(operator.name, operator.dtypes), operator.name
