from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmark_results import entry, results
from benchmarks.results import Results


def test_json_gives_the_results_back(tmp_path: Path) -> None:
    file = tmp_path / "new" / "results.json"
    saved = results(
        entry("mlp", "neuron", 1, facts={"peak_bytes process": 5.0}, cold=True, inference=0.5),
        entry("mlp", "eager", error="it failed"),
    )
    saved.save(file)
    assert Results.load(file) == saved


def test_another_format_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"format": 0, "about": {}, "entries": []}))
    with pytest.raises(ValueError, match="not a result file"):
        Results.load(file)
