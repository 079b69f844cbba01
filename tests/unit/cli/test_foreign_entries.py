"""Entries for other processors, in a bundle that comes from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result

from neuron_compile.cache import ActionCache
from neuron_compile.cli import main
from neuron_compile.cli.foreign_entries import foreign_entries
from neuron_compile.codegen import host
from neuron_compile.pjrt.host_cpu import host_cpu


def run(*words: object) -> Result:
    done = CliRunner().invoke(main, ["cache", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done


def test_entries_of_a_bundle_for_another_processor_are_named_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = host_cpu()
    there = tuple((n, f"{v} amx_tile" if n == "features" else v) for n, v in here)
    with torch.no_grad():
        for machine, function in ((there, torch.sin), (here, torch.cos)):
            monkeypatch.setattr(host, "host_cpu", lambda machine=machine: machine)
            torch.compile(function, backend="neuron", dynamic=False)(torch.ones(2))
    store, file = tmp_path / "neuron-cache", tmp_path / "bundle"
    run("--directory", store, "export", file)
    other = tmp_path / "other"
    told = run("--directory", other, "import", file).output
    (foreign,) = foreign_entries(ActionCache(other).entries())
    assert foreign.kind == "codegen"
    assert told.splitlines() == [
        "4 entries, 4 of them new",
        f"{foreign.key[:12]} is for another processor: {foreign.what}",
    ]
    again = json.loads(run("--directory", other, "import", file, "--json").output)
    assert again == {"entries": 4, "added": 0, "foreign": [foreign.key]}

    monkeypatch.setenv("NEURON_COMPILE_CACHE_DIR", str(other))
    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters["neuron"]
    counters.clear()
    with torch.no_grad():
        for function in (torch.sin, torch.cos):
            torch.compile(function, backend="neuron", dynamic=False)(torch.ones(2))
    assert (counters["codegen_produced"], counters["codegen_hit"]) == (1, 1)
