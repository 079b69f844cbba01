"""Jobs without graphs."""

from __future__ import annotations

from typing import Any

from neuron_compile.graph import GraphRole
from neuron_compile.lowering.program import TensorSpec
from neuron_compile.warmup.job import Job, State


def job(
    name: str = "Net forward (graph 0)",
    role: GraphRole = GraphRole.FORWARD,
    state: State = State.WAITING,
    **values: Any,
) -> Job:
    """A job of the model `Net`."""
    fields: dict[str, Any] = {
        "key": name,
        "model": "Net",
        "role": role,
        "target": "host",
        "node_count": 10,
        "inputs": (TensorSpec((8, 4), "float32", (4, 1)), None),
        "compiler": None,
        "prepared": None,
        "names": [name],
        "roles": {role},
        "state": state,
    }
    return Job(**{**fields, **values})
