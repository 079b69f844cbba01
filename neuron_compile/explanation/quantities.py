"""Numbers as people read them."""

from __future__ import annotations

from typing import Final

_BINARY: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")
_DECIMAL: Final = ("", " k", " M", " G", " T", " P")


def bytes_text(count: int) -> str:
    """`1.5 MiB`: three digits and a binary unit."""
    return _scaled(count, 1024, _BINARY)


def count_text(count: int) -> str:
    """`2.41 G`: three digits and a decimal prefix."""
    return _scaled(count, 1000, _DECIMAL).strip()


def _scaled(count: int, step: int, units: tuple[str, ...]) -> str:
    value, unit = float(count), 0
    # 999.6 would round to a number of four digits.
    while value >= step - 0.5 and unit + 1 < len(units):
        value, unit = value / step, unit + 1
    if not unit:
        return f"{count} {units[0]}"
    digits = max(0, 2 - (value >= 10) - (value >= 100))
    return f"{value:.{digits}f} {units[unit].strip()}"
