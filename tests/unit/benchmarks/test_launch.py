from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.launch import Failure, launch
from benchmarks.protocol import Measurement, Request

pytestmark = pytest.mark.multiprocess


def test_a_process_measures_what_it_is_asked(tmp_path: Path) -> None:
    measured = launch(Request("product", "eager", "tiny", 0.01), tmp_path, 200.0)
    assert isinstance(measured, Measurement)
    assert measured.facts == {"flops product": 2 * 16**3}
    assert len(measured.series["product"].wall) >= 3


def test_an_error_is_told_in_its_last_line(tmp_path: Path) -> None:
    failed = launch(Request("no such case", "eager", "tiny", 0.01), tmp_path, 200.0)
    assert failed == Failure("KeyError: 'no such case'")


def test_a_process_is_ended_when_its_time_is_over(tmp_path: Path) -> None:
    failed = launch(Request("product", "eager", "tiny", 0.01), tmp_path, 0.01)
    assert failed == Failure("took longer than 0 s")
