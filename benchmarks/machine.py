"""What a result was measured on and with."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

_PACKAGES = ("neuron-compile", "torch", "torch-mlir", "jax", "jaxlib", "transformers", "openvino")


def describe() -> dict[str, Any]:
    """Machine, versions, and how busy the machine is now (processes that want to run)."""
    return {
        "measured": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "load_before": os.getloadavg()[0],
        "commit": _commit(),
        "versions": {"python": platform.python_version(), **_versions()},
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _commit() -> str:
    """The checkout's commit, with a + if files differ from it; empty outside of a checkout."""
    git = ("git", "-C", str(Path(__file__).parent))
    try:
        found = subprocess.run((*git, "rev-parse", "HEAD"), capture_output=True, text=True)
        changed = subprocess.run((*git, "status", "--porcelain"), capture_output=True, text=True)
    except OSError:
        return ""
    return found.stdout.strip() + ("+" if changed.stdout.strip() else "")
