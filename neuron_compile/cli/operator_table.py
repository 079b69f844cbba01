"""The operators as a table on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from neuron_compile.operator_support import OperatorSupport, dtypes_in_short


def print_table(operators: Sequence[OperatorSupport]) -> None:
    """Print a table for each group, as wide as the terminal."""
    console = Console(highlight=False)
    for group, members in groupby(operators, key=lambda operator: operator.group):
        table = Table("operator", "route", "forward", "backward", "notes", title=group)
        table.title_justify = "left"
        table.columns[0].overflow = "fold"
        for operator in members:
            cells = (
                operator.name,
                ", ".join(operator.routes),
                dtypes_in_short(operator, "forward"),
                dtypes_in_short(operator, "backward"),
                "; ".join(operator.notes),
            )
            # Text, so that brackets in a name are no markup.
            table.add_row(*map(Text, cells))
        console.print(table)
    console.print(f"{len(operators)} operators")
