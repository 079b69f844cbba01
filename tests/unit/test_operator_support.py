"""The table of operators: what it is read from and searched for."""

from __future__ import annotations

from neuron_compile.operator_support import (
    OperatorSupport,
    Outcome,
    dtypes_in_short,
    known_operators,
    search,
)

SORT = OperatorSupport(
    "sort",
    "torch: Comparison",
    ("library",),
    ("aten.sort.default",),
    ("ties keep their order",),
    {"int64": Outcome("right", "none", 3, 3), "float32": Outcome("right", "refused", 2, 3)},
)
ADD = OperatorSupport("add", "torch: Pointwise", ("Torch-MLIR",), ("aten.add.Tensor",), ())


def test_json_is_read_back() -> None:
    assert OperatorSupport.from_json(SORT.to_json()) == SORT


def test_every_word_must_occur_somewhere() -> None:
    assert search([ADD, SORT], []) == [ADD, SORT]
    assert search([ADD, SORT], ["LIBRARY", "ties"]) == [SORT]
    assert search([ADD, SORT], ["aten."]) == [ADD, SORT]
    assert search([ADD, SORT], ["add", "library"]) == []


def test_dtypes_that_are_not_right_say_why() -> None:
    assert dtypes_in_short(SORT, "forward") == "float32 int64"
    assert dtypes_in_short(SORT, "backward") == "float32 refused"
    assert SORT.dtypes["int64"].is_right
    assert not SORT.dtypes["float32"].is_right


def test_the_table_is_ordered_and_names_each_operator_once() -> None:
    names = [(operator.group, operator.name) for operator in known_operators()]
    assert names == sorted(set(names))
