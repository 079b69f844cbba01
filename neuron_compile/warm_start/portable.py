"""Our artifacts in what `torch.compiler.save_cache_artifacts()` returns.

Each is the cache's own bundle of one entry, so that loading verifies it, signature included.
"""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any, Final

from torch.compiler._cache import (
    CacheArtifact,
    CacheArtifactFactory,
    CacheArtifactRecorder,
)

from neuron_compile.cache import CacheError, CacheWarning

if TYPE_CHECKING:
    from neuron_compile.artifact_store import ArtifactStore

TYPE: Final = "neuron_compile"

# Where the entries that this process has used are, until they are asked for: NEFFs are large, and
# most processes save nothing.
_stores: dict[str, ArtifactStore] = {}


def register_artifacts() -> None:
    """Make our type known to torch, which else cannot read what it wrote."""
    if TYPE not in CacheArtifactFactory._artifact_types:
        CacheArtifactFactory.register(NeuronArtifact)


def record_artifact(store: ArtifactStore, digest: str) -> None:
    """Let `save_cache_artifacts` include the entry of this key."""
    register_artifacts()
    _stores[digest] = store
    CacheArtifactRecorder(TYPE, digest).record(b"")


class NeuronArtifact(CacheArtifact):
    """One entry of the artifact cache. Its bytes are read when it is saved."""

    @staticmethod
    def type() -> str:
        """The name under which torch's `CacheInfo` lists the keys."""
        return TYPE

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name == "content" and not value:
            return _bundle(super().__getattribute__("key"))
        return value

    # By the key alone: torch asks at every use, and comparing contents would read them.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, NeuronArtifact) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def populate_cache(self) -> None:
        """Publish the entry in the cache that the environment names."""
        from neuron_compile.assembly import cache_for
        from neuron_compile.settings import read_settings

        if not self.content:
            return
        try:
            cache_for(read_settings()).import_bundle(io.BytesIO(self.content))
        except CacheError as error:
            warnings.warn(
                f"an artifact in torch's cache artifacts is not used: {error}",
                CacheWarning,
                stacklevel=2,
            )


def _bundle(digest: str) -> bytes:
    store = _stores.get(digest)
    if store is None:
        return b""
    target = io.BytesIO()
    try:
        store.export_bundle(target, [digest])
    except CacheError:
        # Evicted since, or a cache that cannot be used: the others are still worth carrying.
        return b""
    return target.getvalue()
