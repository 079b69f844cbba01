from __future__ import annotations

from benchmarks.table import table


def test_columns_are_aligned() -> None:
    assert table(["case", "ms"], [["mlp", "12.5"], ["resnet18", "7"]]) == (
        "| case     |   ms |\n| -------- | ---: |\n| mlp      | 12.5 |\n| resnet18 |    7 |"
    )


def test_a_table_may_be_empty() -> None:
    assert table(["a"], []) == "| a   |\n| --- |"
