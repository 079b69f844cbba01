"""The two actions of a graph, through the cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from neuron_compile import actions
from neuron_compile.cache import ActionCache, ActionKey, ActionResult, Outcome
from neuron_compile.cache.blobs import Blobs
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.lower_graph import lower_graph
from neuron_compile.lowering.from_fx import FxLowering
from neuron_compile.observe import Stage, log
from neuron_compile.workers.runner import ActionRunner, ToolsChangedError

Produce = Callable[[], Blobs]
Around = Callable[[Produce], Blobs]


def directly(produce: Produce) -> Blobs:
    """Nothing around it."""
    return produce()


class Build:
    """Lowers and generates code for one target, or finds it in the cache. Thread-safe.

    `name` is the graph's, for messages. `around` is called with the work if there is any to do.
    """

    def __init__(self, generator: CodeGenerator, cache: ActionCache, runner: ActionRunner) -> None:
        self._generator: Final = generator
        self._cache: Final = cache
        self._runner: Final = runner

    def lower(self, name: str, imported: FxLowering, around: Around = directly) -> ActionResult:
        """The blobs of the StableHLO program. Raises `UnsupportedOpError`, `LoweringError`."""
        runner, target = self._runner, self._generator.target

        def produce() -> Blobs:
            log.info("%s: %s begins", name, Stage.LOWER)
            return lower_graph(imported, runner.lower, runner.convert, target)

        while True:
            try:
                return self._cache.get_or_produce(
                    self.lower_key(imported),
                    lambda: around(produce),
                    what=f"{Stage.LOWER} of {name}",
                )
            except ToolsChangedError:
                log.info("the code of lowering was changed: making the key of %s again", name)

    @staticmethod
    def lower_key(imported: FxLowering) -> ActionKey:
        """What `lower` looks for."""
        return ActionKey(Stage.LOWER.value, actions.lower_key(imported.program))

    def recall(self, lowered_key: str) -> ActionResult | None:
        """What `lower` gave for the key with this digest, if the cache has it."""
        return self._cache.recall(lowered_key)

    def generate(self, name: str, lowered: ActionResult, around: Around = directly) -> ActionResult:
        """The blobs of the artifact. Raises `CodegenError`."""

        def produce() -> Blobs:
            log.info("%s: %s for %s begins", name, Stage.CODEGEN, self._generator.target.name)
            return self._runner.generate(lowered.blobs)

        return self._cache.get_or_produce(
            self.generate_key(lowered),
            lambda: around(produce),
            what=f"{Stage.CODEGEN} of {name}",
        )

    def regenerate(self, name: str, lowered: ActionResult, reason: str) -> ActionResult:
        """As `generate`, in the place of an entry that is sound and cannot be loaded, for `reason`.

        A remote cache that gives the same one again is not asked a second time.
        """
        self._cache.discard(self.generate_key(lowered), reason)
        result = self.generate(name, lowered)
        if result.outcome is not Outcome.REMOTE_HIT:
            return result
        return replace(result, blobs=self._runner.generate(lowered.blobs), outcome=Outcome.UNCACHED)

    @property
    def may_regenerate(self) -> bool:
        """Whether the cache leaves it to this process to make artifacts."""
        return not self._cache.policy.require_cache

    def generate_key(self, lowered: ActionResult) -> ActionKey:
        """What `generate` looks for."""
        program = actions.decode_program(lowered.blobs)
        return ActionKey(Stage.CODEGEN.value, actions.generate_key(program, self._generator))

    def is_generated(self, lowered: ActionResult) -> bool:
        """Whether the cache has all that `generate` gives; the bytes of it are not looked at."""
        return bool(self._cache.present([self.generate_key(lowered)]))
