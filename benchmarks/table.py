"""Aligned columns of text."""

from __future__ import annotations

from collections.abc import Sequence


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown, aligned to be read as plain text too: the first column left, the others right."""
    cells = [heading, *rows]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(heading))]

    def line(row: Sequence[str]) -> str:
        first, *others = (
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join([first, *others])} |"

    dashes = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return "\n".join([line(heading), line(dashes), *map(line, rows)])
