"""The estimate of a store's size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from neuron_compile.cache.usage import Usage, UsageLog

if TYPE_CHECKING:
    from pathlib import Path


def _log(tmp_path: Path) -> UsageLog:
    return UsageLog(tmp_path / "usage", tmp_path / "tmp")


def test_nothing_is_known_before_the_first_measurement(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.add([1])
    assert log.estimate() is None
    assert log.measured() is None


def test_what_is_written_after_a_measurement_is_added_in_blocks(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.reset(Usage(1_000_000, 7, 5.0))
    assert log.estimate() == Usage(1_000_000, 7, 5.0)
    log.add([1, 4096, 4097, 0])
    _log(tmp_path).add([10_000])
    assert log.estimate() == Usage(1_000_000 + (1 + 1 + 2 + 1 + 3) * 4096, 9, 5.0)
    log.reset(Usage(500, 1, 6.0))
    assert _log(tmp_path).estimate() == Usage(500, 1, 6.0)
    assert len(list((tmp_path / "usage").iterdir())) == 1


def test_what_is_written_during_a_measurement_is_not_forgotten(tmp_path: Path) -> None:
    log = _log(tmp_path)
    log.reset(Usage(0, 0, 1.0))
    log.add([4096])
    before = log.estimate()
    _log(tmp_path).add([4096, 4096])
    log.reset(Usage(4096, 1, 2.0), since=before)
    assert log.estimate() == Usage(3 * 4096, 2, 2.0)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"bytes": "x"}', '{"bytes": 1e999}', "[" * 3000, "x" * 9000]
)
def test_a_damaged_measurement_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "usage").mkdir()
    (tmp_path / "usage" / "measured").write_text(text)
    assert _log(tmp_path).estimate() is None
