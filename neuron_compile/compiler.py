"""The conductor: the one file that knows all the stages.

A graph goes through `prepare`, the import into the torch dialect, which takes this process, and
`finish`: the two actions are carried out, or their results found in the cache, and `_load` makes
the last one callable. While that is done for a forward graph, the backward graph that is `upcoming`
is imported and given to a thread (`ahead.py`); its own turn then takes up what that has begun.
`restore` is the short way for a graph that AOTAutograd's cache remembers: there is no FX graph, so
it starts from the StableHLO program in the cache.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from torch.fx import GraphModule

from neuron_compile.ahead import BegunWork, Meanwhile
from neuron_compile.build import Build
from neuron_compile.cache import ActionCache, ActionResult
from neuron_compile.codegen.generator import CodeGenerator
from neuron_compile.codegen.legality.refusal import IllegalProgramError, LocatedCodegenError
from neuron_compile.codegen.legality.unsupported import unsupported_operations
from neuron_compile.errors import ArtifactError, ExecutionError, SourceLine, UnsupportedOpError
from neuron_compile.float64 import settle_float64
from neuron_compile.graph import CapturedGraph, GraphRole, NamedGraph
from neuron_compile.lower_graph import lower_graph
from neuron_compile.lowering.from_fx import FxLowering, from_fx
from neuron_compile.lowering.program import Signature
from neuron_compile.name_all_refused import name_all_refused
from neuron_compile.observe import Observer, Stage, StageEvent, Stopwatch, stopwatch
from neuron_compile.options import CompileOptions
from neuron_compile.runtime.compiled_graph import CompiledGraph
from neuron_compile.runtime.load import load
from neuron_compile.workers.in_process import InProcess
from neuron_compile.workers.runner import ActionRunner


@dataclass(frozen=True, slots=True)
class PreparedGraph:
    """A graph in the torch dialect."""

    graph: CapturedGraph
    imported: FxLowering


class Compiler:
    """Compiles graphs with one set of options. Thread-safe."""

    def __init__(
        self,
        options: CompileOptions,
        generator: CodeGenerator,
        cache: ActionCache,
        observer: Observer,
        runner: ActionRunner | None = None,
        values: Build | None = None,
        stores_graphs: bool = True,
    ) -> None:
        """`runner` carries out the actions; by default this process does. `values` makes what is
        run in place of the NEFFs of `generator`, where those are only compiled. `stores_graphs`
        lets AOTAutograd's cache keep graphs, which then skip the first stages."""
        self.options = options
        self.generator = generator
        self.cache = cache
        self._observer = observer
        self._runner = runner or InProcess(generator)
        self._build = Build(generator, cache, self._runner)
        self._values = values
        self.stores_graphs = stores_graphs
        self._begun: BegunWork[ActionResult] = BegunWork()

    def compile(self, graph: CapturedGraph, upcoming: CapturedGraph | None = None) -> CompiledGraph:
        """FX graph to callable. Raises one of our errors, with the user's lines.

        A cold and a warm start run the same code: what an action gives is always taken from bytes.
        If there is work to do, that on `upcoming`, the graph to be compiled next, begins meanwhile.
        """
        return self.finish(self.prepare(graph), upcoming)

    def prepare(self, graph: CapturedGraph) -> PreparedGraph:
        """The first stage: what takes this process and the graph itself."""
        return PreparedGraph(graph, self._import(graph))

    def finish(
        self, prepared: PreparedGraph, upcoming: CapturedGraph | None = None
    ) -> CompiledGraph:
        """The other stages."""
        lowered, artifact = self._results(prepared, upcoming)
        with self._located(prepared.graph, prepared.imported):
            return self._load(prepared.graph, prepared.imported.signature, lowered, artifact)

    def build(self, prepared: PreparedGraph, upcoming: CapturedGraph | None = None) -> ActionResult:
        """The artifact of a graph, without loading it."""
        return self._results(prepared, upcoming)[1]

    def _results(
        self, prepared: PreparedGraph, upcoming: CapturedGraph | None
    ) -> tuple[ActionResult, ActionResult]:
        graph, imported = prepared.graph, prepared.imported
        around = self._meanwhile(upcoming).during
        begun = self._begun.take(imported.program)
        lowered = self._action(
            graph,
            Stage.LOWER,
            begun.first.result
            if begun
            else lambda: self._build.lower(graph.name, imported, around),
        )
        with self._located(graph, imported):
            artifact = self._action(
                graph,
                Stage.CODEGEN,
                begun.second.result
                if begun
                else lambda: self._build.generate(graph.name, lowered, around),
            )
            if self._values:
                artifact = self._values.generate(graph.name, lowered)
        return lowered, artifact

    def name_all_refused(
        self, graph: CapturedGraph, error: UnsupportedOpError
    ) -> UnsupportedOpError:
        """`error`, with all other operations of the graph that cannot be lowered either."""
        if not error.may_run_in_eager:
            return error
        runner, target = self._runner, self.generator.target

        def attempt(module: GraphModule) -> None:
            lower_graph(from_fx(module), runner.lower, runner.convert, target)

        return name_all_refused(graph.module, error, attempt)

    def on(self, runner: ActionRunner) -> Compiler:
        """A compiler that differs in what carries out the actions."""
        return Compiler(
            self.options,
            self.generator,
            self.cache,
            self._observer,
            runner,
            self._values,
            self.stores_graphs,
        )

    def is_built(self, lowered_key: str) -> bool:
        """Whether the cache has what `restore` needs."""
        lowered = self._build.recall(lowered_key)
        builds = [self._build, *([self._values] if self._values else [])]
        return lowered is not None and all(build.is_generated(lowered) for build in builds)

    def lowered_key(self, prepared: PreparedGraph) -> str:
        """The digest by which `restore` finds the StableHLO program again."""
        return self._build.lower_key(prepared.imported).digest

    def restore(
        self, graph: NamedGraph, lowered_key: str, signature: Signature
    ) -> CompiledGraph | None:
        """The callable of a graph that an earlier process prepared; None if the cache does not have
        its StableHLO program."""
        with stopwatch(Stage.LOWER) as watch:
            lowered = self._build.recall(lowered_key)
        if lowered is None:
            return None
        self._tell_action(graph, Stage.LOWER, watch, lowered)
        artifact = self._action(
            graph, Stage.CODEGEN, lambda: self._build.generate(graph.name, lowered)
        )
        if self._values:
            artifact = self._values.generate(graph.name, lowered)
        return self._load(graph, signature, lowered, artifact)

    def warm(self, count: int = 1) -> None:
        """Get ready to compile, in the background: `count` graphs at the same time."""
        self._runner.warm(count)

    def _meanwhile(self, graph: CapturedGraph | None) -> Meanwhile:
        if graph is None or self._runner.capacity < 2:
            return Meanwhile()
        return Meanwhile(functools.partial(self._begin, graph))

    def _begin(self, graph: CapturedGraph) -> None:
        """Import a graph that nobody has asked for yet, and leave the rest of it to a thread."""
        imported = self._in_torch_dialect(graph)
        self._begun.begin(
            imported.program,
            lambda: self._build.lower(graph.name, imported),
            lambda lowered: self._build.generate(graph.name, lowered),
        )

    def _import(self, graph: CapturedGraph) -> FxLowering:
        with stopwatch(Stage.IMPORT) as watch:
            imported = self._in_torch_dialect(graph)
        settle_float64(graph, imported.demoted, self.options)
        self._tell(graph, Stage.IMPORT, watch, dumps=lambda: self._texts(imported))
        return imported

    def _in_torch_dialect(self, graph: CapturedGraph) -> FxLowering:
        is_host = not self.generator.target.is_device
        # What a backward graph indexes by, the forward graph has checked.
        checks = self.options.bounds_checks and is_host and graph.role is not GraphRole.BACKWARD
        # What is to be rounded otherwise is not to be as in eager.
        rounds_as_eager = is_host and self.options.auto_cast == "none"
        return from_fx(graph.module, checks=checks, rounds_as_eager=rounds_as_eager)

    def _action(
        self, graph: NamedGraph, stage: Stage, result_of: Callable[[], ActionResult]
    ) -> ActionResult:
        with stopwatch(stage) as watch:
            result = result_of()
        self._tell_action(graph, stage, watch, result)
        return result

    def _tell_action(
        self, graph: NamedGraph, stage: Stage, watch: Stopwatch, result: ActionResult
    ) -> None:
        size = sum(map(len, result.blobs.values()))
        self._tell(graph, stage, watch, result.outcome.value, size, lambda: result.blobs)

    @contextmanager
    def _located(self, graph: CapturedGraph, imported: FxLowering) -> Iterator[None]:
        """Code generators know the numbers of nodes; their errors leave with the user's lines, and
        where operations may run in eager, what a device refuses is an unsupported operation."""

        def source(number: int) -> SourceLine | None:
            return imported.origins[number].source if number < len(imported.origins) else None

        try:
            yield
        except LocatedCodegenError as error:
            if isinstance(error, IllegalProgramError) and self.options.fallback == "eager":
                operations = unsupported_operations(error, imported.origins)
                if operations:
                    raise UnsupportedOpError(operations, target=error.target) from error
            raise error.located(source, graph.name) from error.__cause__

    def _load(
        self, graph: NamedGraph, signature: Signature, lowered: ActionResult, artifact: ActionResult
    ) -> CompiledGraph:
        """What the cache had and cannot be loaded is made once more."""
        build = self._values or self._build
        with stopwatch(Stage.LOAD) as watch:
            try:
                executable = load(artifact.blobs)
            except (ArtifactError, ExecutionError) as error:
                if not artifact.is_hit or not build.may_regenerate:
                    raise
                executable = load(build.regenerate(graph.name, lowered, error.what).blobs)
            compiled = CompiledGraph(graph.name, signature, executable)
        self._tell(graph, Stage.LOAD, watch)
        return compiled

    def _tell(
        self,
        graph: NamedGraph,
        stage: Stage,
        watch: Stopwatch,
        outcome: str = "",
        byte_count: int = 0,
        dumps: Callable[[], Mapping[str, bytes | str]] = dict,
    ) -> None:
        self._observer.stage_ended(
            StageEvent(graph, stage, watch.seconds, outcome, byte_count, dumps)
        )

    def _texts(self, imported: FxLowering) -> Mapping[str, str]:
        return {
            "fx.txt": imported.legal_module.print_readable(print_output=False),
            "torch.mlir": imported.program.module,
            "key.txt": f"{self._build.lower_key(imported).digest}\n",
        }
