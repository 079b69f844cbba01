"""Graphs as JSON."""

from __future__ import annotations

import json

from neuron_compile.warmup.job import State
from neuron_compile.warmup.planned_keys import described
from warmup_jobs import job


def test_description_is_plain_and_complete() -> None:
    failed = job("a", state=State.FAILED, error=ValueError("no"), seconds=1.23456, names=["a", "b"])
    assert json.loads(json.dumps(described(failed))) == {
        "graph": "a",
        "model": "Net",
        "role": "forward",
        "roles": ["forward"],
        "target": "host",
        "key": "a",
        "inputs": ["float32[8, 4]"],
        "operations": 10,
        "times met": 2,
        "state": "failed",
        "seconds": 1.235,
        "error": "no",
    }
