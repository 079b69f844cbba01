"""What is kept of a graph, and that nothing else is taken for it."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest

from neuron_compile.errors import ArtifactError
from neuron_compile.graph import GraphRole
from neuron_compile.lowering.errors import SourceLine
from neuron_compile.lowering.from_fx import NodeOrigin
from neuron_compile.lowering.program import Signature, TensorSpec
from neuron_compile.warm_start.stored_graph import StoredGraph

SPEC = TensorSpec((2,), "float64", (1,))
GRAPH = StoredGraph(
    "Net",
    GraphRole.FORWARD,
    12,
    "ab" * 32,
    Signature((SPEC,), (0,), (SPEC,), (0,)),
    (NodeOrigin("sin", "aten.sin.default", "tensor", None),),
    "version",
    {"target": "host"},
)


def with_body(body: bytes) -> bytes:
    magic, _, _ = GRAPH.encode().partition(b"\n")
    return magic + b"\n" + hashlib.sha256(body).hexdigest().encode() + body


def test_comes_back_as_it_was() -> None:
    assert StoredGraph.decode(GRAPH.encode()) == GRAPH


def test_any_change_of_the_bytes_is_an_artifact_error() -> None:
    data = GRAPH.encode()
    choose = random.Random(3)
    for _ in range(500):
        place = choose.randrange(len(data))
        changed = bytearray(data)
        match choose.randrange(3):
            case 0:
                changed[place] ^= 1 << choose.randrange(8)
            case 1:
                del changed[place:]
            case _:
                changed.insert(place, choose.randrange(256))
        with pytest.raises(ArtifactError):
            StoredGraph.decode(bytes(changed))


def body() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(GRAPH.encode().partition(b"\n")[2][64:])
    return value


@pytest.mark.parametrize("name", body())
@pytest.mark.parametrize("wrong", [None, -1, "x", [], [[1]], {"a": 1}, {"view": [1]}])
def test_a_field_of_another_kind_is_an_artifact_error_or_a_graph(name: str, wrong: Any) -> None:
    """The digest vouches for the bytes, so this takes a program that writes nonsense."""
    for value in ({**body(), name: wrong}, {k: v for k, v in body().items() if k != name}):
        try:
            decoded = StoredGraph.decode(with_body(json.dumps(value).encode()))
        except ArtifactError:
            continue
        assert isinstance(decoded, StoredGraph)
        assert name in value


@pytest.mark.parametrize("data", [b"null", b"[]", b"\xff", b"", b"[" * 100_000])
def test_a_body_of_another_kind_is_an_artifact_error(data: bytes) -> None:
    with pytest.raises(ArtifactError):
        StoredGraph.decode(with_body(data))


def test_source_lines_are_kept_while_they_read_so(tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text("import torch\ny = x.sin()\n")
    line = SourceLine(str(file), 2, "y = x.sin()")
    moved = SourceLine(str(file), 1, "y = x.sin()")
    gone = SourceLine(str(tmp_path / "gone.py"), 2, "y = x.sin()")
    for source, kept in ((line, line), (moved, None), (gone, None)):
        origin = NodeOrigin("sin", "aten.sin.default", "tensor", source)
        stored = StoredGraph("Net", GRAPH.role, 1, GRAPH.lowered, GRAPH.signature, (origin,))
        assert StoredGraph.decode(stored.encode()).demoted[0].source == kept
