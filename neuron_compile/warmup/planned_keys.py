"""The keys of collected graphs, before anything is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neuron_compile.lowering.program import TensorSpec
from neuron_compile.warmup.job import Job


def described(job: Job) -> dict[str, Any]:
    """A graph as JSON values: what it is called, its key, what it takes, and how far it is."""
    return {
        "graph": job.name,
        "model": job.model,
        "role": job.role.value,
        "roles": sorted(role.value for role in job.roles),
        "target": job.target,
        "key": job.key,
        "inputs": shapes(job.inputs),
        "operations": job.node_count,
        "times met": len(job.names),
        "state": job.state.value,
        "seconds": round(job.seconds, 3),
        "error": None if job.error is None else str(job.error),
    }


def shapes(inputs: Sequence[TensorSpec | None]) -> list[str]:
    """`float32[8, 4]` for each tensor that goes in."""
    return [f"{spec.dtype}{list(spec.shape)}" for spec in inputs if spec is not None]
