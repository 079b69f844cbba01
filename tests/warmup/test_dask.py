"""A warm-up whose work is done by a Dask cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import torch

if __name__ == "__main__":
    f = torch.compile(lambda x: (x.sin() * x).sum(), backend="neuron", dynamic=False)
    f(torch.ones(4, requires_grad=True)).backward()
"""
CLUSTER = """
from concurrent.futures import Executor
from pathlib import Path

from dask.distributed import Client, LocalCluster

def executor() -> Executor:
    cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    client = Client(cluster)
    Path("workers").write_text(str(len(client.scheduler_info()["workers"])))
    return client.get_executor()
"""


@pytest.mark.multiprocess
@pytest.mark.slow
def test_workers_of_a_cluster_fill_the_cache(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    (tmp_path / "cluster.py").write_text(CLUSTER)
    command = [sys.executable, "-c", "from neuron_compile.cli import main; main()", "warmup"]
    done = subprocess.run(
        [*command, "--json", "--executor", "cluster:executor", "train.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "workers").read_text() == "1"
    graphs = json.loads(done.stdout)["graphs"]
    assert [graph["state"] for graph in graphs] == ["compiled", "compiled"]
    again = subprocess.run(
        [sys.executable, "train.py"],
        cwd=tmp_path,
        env={**os.environ, "NEURON_COMPILE_REQUIRE_CACHE": "1"},
        capture_output=True,
        text=True,
    )
    assert again.returncode == 0, again.stderr
