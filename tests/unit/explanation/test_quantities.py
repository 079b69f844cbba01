from __future__ import annotations

import pytest

from neuron_compile.explanation.quantities import bytes_text, count_text


@pytest.mark.parametrize(
    "count,text",
    [
        (0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.00 KiB"), (1536, "1.50 KiB"),
        (10 * 1024, "10.0 KiB"), (500 << 20, "500 MiB"), (3 << 40, "3.00 TiB"),
        (5000 << 40, "5000 TiB"),
    ],
)  # fmt: skip
def test_bytes(count: int, text: str) -> None:
    assert bytes_text(count) == text


@pytest.mark.parametrize(
    "count,text", [(0, "0"), (999, "999"), (1000, "1.00 k"), (2_414_000_000, "2.41 G")]
)
def test_counts(count: int, text: str) -> None:
    assert count_text(count) == text
