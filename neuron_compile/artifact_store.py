"""The artifact cache as the compiler uses it: its refusals are the product's errors, and PyTorch
learns what was used."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from neuron_compile.cache import ActionCache, ActionKey, ActionResult
from neuron_compile.cache import CacheMissError as Miss
from neuron_compile.errors import CacheMissError

Used = Callable[["ArtifactStore", str], None]


class ArtifactStore(ActionCache):
    """An `ActionCache` for one process's compilers."""

    # Told of the store and the digest of each key whose blobs were given.
    on_use: Used | None = None

    def get_or_produce(
        self, key: ActionKey, produce: Callable[[], Mapping[str, bytes]], *, what: str = ""
    ) -> ActionResult:
        """As `ActionCache`, but raises `neuron_compile.errors.CacheMissError`."""
        try:
            result = super().get_or_produce(key, produce, what=what)
        except Miss as miss:
            raise self._refusal(key, what) from miss
        self._tell(key.digest)
        return result

    def recall(self, digest: str) -> ActionResult | None:
        """As `ActionCache`."""
        result = super().recall(digest)
        if result is not None:
            self._tell(digest)
        return result

    def _tell(self, digest: str) -> None:
        if self.on_use is not None:
            self.on_use(self, digest)

    def _refusal(self, key: ActionKey, what: str) -> CacheMissError:
        remote = self.policy.remote
        return CacheMissError(
            f"{what or key.kind} is not in the cache, and NEURON_COMPILE_REQUIRE_CACHE=1 forbids "
            "to compile",
            where=(
                f"key        {key.digest}",
                f"directory  {self.directory}",
                *([f"remote     {remote.url}"] if remote else []),
            ),
            why=f"{self.explain_miss(key)}",
            hint="warm this cache by `neuron-compile warmup` with the same versions and options, "
            "or unset NEURON_COMPILE_REQUIRE_CACHE.",
        )
