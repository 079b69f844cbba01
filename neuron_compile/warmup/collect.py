"""Collects the graphs of a program while eager PyTorch computes its values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from neuron_compile.assembly import compilers_of
from neuron_compile.cache.forks import Guard
from neuron_compile.compiler import Compiler, PreparedGraph
from neuron_compile.graph import CapturedGraph, NamedGraph
from neuron_compile.lowering.program import Signature
from neuron_compile.runtime.compiled_graph import CompiledGraph
from neuron_compile.warmup.eager_graph import EagerGraph
from neuron_compile.warmup.job import Job, State


class Collection:
    """What a program asked to be compiled, each graph once, in the order of asking. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Guard()
        self._jobs: dict[tuple[str, ...], Job] = {}

    @property
    def jobs(self) -> list[Job]:
        """The graphs so far."""
        with self._lock:
            return list(self._jobs.values())

    def add(self, job: Job) -> None:
        """Add a graph, or the name of one that is there."""
        identity = (job.key, job.target, repr(job.compiler.generator.fingerprint()))
        with self._lock:
            known = self._jobs.setdefault(identity, job)
            if known is not job:
                known.names.extend(job.names)
                known.roles |= job.roles
                known.prepared = known.prepared or job.prepared

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Within it, backend neuron compiles nothing."""

        def make(*args: Any, **kwargs: Any) -> Compiler:
            return _CollectingCompiler(self, *args, **kwargs)

        with compilers_of(make):
            yield


class _CollectingCompiler(Compiler):
    """Hands out eager graphs, but executables where the cache has them."""

    def __init__(self, collection: Collection, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._collection = collection

    def warm(self, count: int = 1) -> None:
        """Nothing is compiled yet."""

    def prepare(self, graph: CapturedGraph) -> PreparedGraph:
        """Also a backward graph that the program will not call is worth having."""
        prepared = super().prepare(graph)
        self._collection.add(
            self._job(self.lowered_key(prepared), graph, prepared.imported.signature, prepared)
        )
        return prepared

    def finish(self, prepared: PreparedGraph, _upcoming: CapturedGraph | None = None) -> Any:
        """The graph in eager PyTorch."""
        return EagerGraph(prepared.graph.module)

    def restore(
        self, graph: NamedGraph, lowered_key: str, signature: Signature
    ) -> CompiledGraph | None:
        """From the cache if all of it is there: whatever is not is prepared and collected."""
        if not self.is_built(lowered_key):
            return None
        restored = super().restore(graph, lowered_key, signature)
        if restored is not None:
            job = self._job(lowered_key, graph, signature, None)
            job.state = State.CACHED
            self._collection.add(job)
        return restored

    def _job(
        self, key: str, graph: NamedGraph, signature: Signature, prepared: PreparedGraph | None
    ) -> Job:
        return Job(
            key,
            graph.model,
            graph.role,
            self.generator.target.name,
            graph.node_count,
            signature.inputs,
            self,
            prepared,
            [graph.name],
            {graph.role},
        )
