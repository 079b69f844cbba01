"""What AOTAutograd's cache keeps of one of our graphs: plain data, and where the artifact is."""

from __future__ import annotations

import hashlib
import json
import linecache
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from neuron_compile.errors import ArtifactError
from neuron_compile.graph import GraphRole
from neuron_compile.lowering.errors import SourceLine
from neuron_compile.lowering.from_fx import NodeOrigin
from neuron_compile.lowering.program import Signature
from neuron_compile.warm_start.signature_json import decode_signature, encode_signature

# Also bumped when the fields change their meaning.
_MAGIC: Final = b"neuron-compile stored graph 1\n"
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_HEX_LENGTH: Final = 64


@dataclass(frozen=True, slots=True)
class StoredGraph:
    """A graph that need not be traced again.

    `lowered` is the digest of the lowering's key in the artifact cache. `demoted` are the
    operations that compute in float32 what was written in float64, to be warned of. `made_by`
    tells our version and its tools, `options` are the user's. `model` and `node_count` are for
    people.
    """

    model: str
    role: GraphRole
    node_count: int
    lowered: str
    signature: Signature
    demoted: tuple[NodeOrigin, ...] = ()
    made_by: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def encode(self) -> bytes:
        """Bytes that `decode` reads back: a format line, a SHA-256, JSON.

        Raises `UnstorableError` if the signature is not plain data.
        """
        body = json.dumps(
            {
                "model": self.model,
                "role": self.role.value,
                "node_count": self.node_count,
                "lowered": self.lowered,
                "signature": encode_signature(self.signature),
                "demoted": [_encode_origin(origin) for origin in self.demoted],
                "made_by": self.made_by,
                "options": dict(self.options),
            },
            sort_keys=True,
            separators=(",", ":"),
        ).encode()
        return _MAGIC + hashlib.sha256(body).hexdigest().encode() + body

    @classmethod
    def decode(cls, data: bytes) -> StoredGraph:
        """Read what `encode` wrote. Raises `ArtifactError` for anything else."""
        start = len(_MAGIC)
        body = data[start + _HEX_LENGTH :]
        if not data.startswith(_MAGIC):
            raise ArtifactError("a stored graph is of another format")
        if data[start : start + _HEX_LENGTH] != hashlib.sha256(body).hexdigest().encode():
            raise ArtifactError("a stored graph is damaged", why="its digest does not match.")
        try:
            value = json.loads(body)
            stored = cls(
                model=str(value["model"]),
                role=GraphRole(value["role"]),
                node_count=int(value["node_count"]),
                lowered=str(value["lowered"]),
                signature=decode_signature(value["signature"]),
                demoted=tuple(_decode_origin(origin) for origin in value["demoted"]),
                made_by=str(value["made_by"]),
                options=dict(value["options"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise ArtifactError("a stored graph is malformed", why=str(error)) from error
        if _DIGEST.fullmatch(stored.lowered) is None:
            raise ArtifactError("a stored graph names no artifact")
        return stored


def _encode_origin(origin: NodeOrigin) -> list[Any]:
    source = origin.source
    line = source and [source.file, source.line, source.text]
    return [origin.name, origin.operator, origin.operands, line]


def _decode_origin(value: list[Any]) -> NodeOrigin:
    name, operator, operands, line = value
    return NodeOrigin(name, operator, operands, _present(SourceLine(*line)) if line else None)


def _present(source: SourceLine) -> SourceLine | None:
    """The line, if it still reads so: the graph may have been stored from another folder."""
    return source if linecache.getline(source.file, source.line).strip() == source.text else None
