"""A table that is made when somebody looks."""

from __future__ import annotations

from neuron_compile.lazy_table import LazyTable


def test_is_made_once_and_when_looked_at() -> None:
    made: list[int] = []

    def make() -> dict[str, int]:
        made.append(1)
        return {"a": 1}

    table = LazyTable(make)
    assert not callable(table)
    assert not made
    assert {**table} == {"a": 1}
    assert table["a"] == len(table) == 1
    assert "b" not in table
    assert made == [1]
