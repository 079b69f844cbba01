from __future__ import annotations

from pathlib import Path

import pytest

from benchmark_results import entry, results
from benchmarks.plots import plot

pytest.importorskip("matplotlib", reason="drawing needs the extra `bench`")
# Matplotlib's own use of its dependencies.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_pictures_name_what_was_measured(tmp_path: Path) -> None:
    written = plot(
        results(
            entry("mlp", "neuron", facts={"peak_bytes train_step": 1e9}, inference=1.0),
            entry("mlp", "inductor", facts={"peak_bytes train_step": 2e9}, inference=2.0),
            entry("start", "neuron", cold=True, start=5.0),
        ),
        tmp_path,
    )
    assert [path.name for path in written] == ["speed.svg", "memory.svg", "start.svg"]
    assert all("<svg" in path.read_text() for path in written)
    # Text is drawn as glyphs; each string is kept as a comment.
    assert "against inductor" in (tmp_path / "speed.svg").read_text()
    assert "<!-- mlp -->" in (tmp_path / "memory.svg").read_text()
    assert "<!-- warm -->" not in (tmp_path / "start.svg").read_text()


def test_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    assert plot(results(), tmp_path) == []
