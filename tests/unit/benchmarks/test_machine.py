from __future__ import annotations

import json

import torch

from benchmarks.machine import describe


def test_says_what_the_figures_depend_on() -> None:
    about = describe()
    assert about["versions"]["torch"] == torch.__version__
    assert about["cores"] >= 1
    assert about["memory_bytes"] > 1 << 28
    assert about["load_before"] >= 0
    assert json.loads(json.dumps(about)) == about
