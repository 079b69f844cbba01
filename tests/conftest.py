"""What every test gets: fixed seeds, a fresh Dynamo, a cache folder of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
if "PYTEST_XDIST_WORKER" in os.environ:
    # Eager references of several workers would fight for the cores; read when torch is loaded.
    os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def fresh_process_state(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Seed torch, forget compiled code, and keep artifacts out of the user's cache."""
    for name in os.environ:
        if name.startswith(("NEURON_", "TORCH_NEURONX_")) and name != "NEURON_TEST_BACKEND":
            monkeypatch.delenv(name)
    monkeypatch.setenv("NEURON_COMPILE_CACHE_DIR", str(tmp_path / "neuron-cache"))
    # Most tests compile a few small graphs; those about processes ask for workers themselves.
    monkeypatch.setenv("NEURON_COMPILE_WORKERS", "0")
    # AOTAutograd's, which remembers graphs that this test's artifact cache does not have.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "torch-cache"))
    import torch

    torch.manual_seed(0)
    yield
    torch._dynamo.reset()
    # Each test's cache is a folder of its own, and an open store keeps a file of it open.
    if (assembly := sys.modules.get("neuron_compile.assembly")) is not None:
        assembly._open_cache.cache_clear()
    if (portable := sys.modules.get("neuron_compile.warm_start.portable")) is not None:
        portable._stores.clear()
