"""What is found out about a model, as plain data. No torch, no MLIR."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from neuron_compile.codegen.legality.refusal import Refusal
from neuron_compile.errors import SourceLine, UnsupportedOp


@dataclass(frozen=True, slots=True)
class Operation:
    """One operator in one graph: all `count` nodes that come from calls of it.

    `operator` is what the program called, `into` what it was decomposed into (empty if it was not).
    `routes` are those of the parts: `Torch-MLIR`, `library`, `nothing` where no code comes of it,
    `none` where it cannot be lowered. `flops` is 0 where PyTorch's counter knows no formula.
    """

    operator: str
    routes: tuple[str, ...]
    into: tuple[str, ...]
    count: int
    flops: int
    places: tuple[SourceLine, ...]

    @property
    def route(self) -> str:
        """The route in words."""
        routes = ", ".join(self.routes)
        return f"decomposition, {routes}" if self.into else routes


@dataclass(frozen=True, slots=True)
class DeviceVerdict:
    """What stands between a program and a device. Bytes are the device's, per program.

    `refusals` come with the user's lines; `rewritten` counts by error code what was replaced by an
    equal form; `undocumented` are operators that the compiler's documentation does not mention;
    `narrowed_count` is of 64-bit integers that the device computes in 32 bits. `peak_bytes` is an
    upper bound of the memory for values, arguments included.
    """

    target: str
    refusals: tuple[tuple[Refusal, tuple[SourceLine, ...]], ...]
    rewritten: tuple[tuple[str, int], ...]
    undocumented: tuple[tuple[str, int], ...]
    element_types: tuple[tuple[str, int], ...]
    narrowed_count: int
    operation_count: int
    argument_bytes: int
    result_bytes: int
    peak_bytes: int
    memory_bytes: int

    @property
    def memory_share(self) -> float:
        """Peak over what there is."""
        return self.peak_bytes / self.memory_bytes


@dataclass(frozen=True, slots=True)
class GraphFindings:
    """One graph. `saved_bytes` are the activations that the forward keeps for the backward graph;
    `stablehlo_bytes` is 0 where nothing could be lowered; `problem` is an error that is not about
    single operations; `demoted` are operations written in float64 that compute in float32."""

    name: str
    role: str
    operations: tuple[Operation, ...]
    failures: tuple[UnsupportedOp, ...]
    problem: str
    demoted: tuple[str, ...]
    input_bytes: int
    output_bytes: int
    saved_bytes: int
    stablehlo_bytes: int
    verdict: DeviceVerdict | None

    @property
    def flops(self) -> int:
        """Floating-point operations; a multiply-add is two."""
        return sum(operation.flops for operation in self.operations)

    @property
    def is_ok(self) -> bool:
        """Whether nothing is known that would keep it from being compiled."""
        return not (self.failures or self.problem or (self.verdict and self.verdict.refusals))


@dataclass(frozen=True, slots=True)
class GraphBreak:
    """Where Dynamo ended a graph, and why."""

    reason: str
    source: SourceLine | None


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a model from being compiled: which operations, the user's lines, why, what to
    try."""

    what: str
    where: str
    why: str
    way_out: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that `explain` finds out. `str()` is a report for a terminal."""

    model: str
    target: str
    parameter_count: int
    parameter_bytes: int
    buffer_bytes: int
    graphs: tuple[GraphFindings, ...]
    breaks: tuple[GraphBreak, ...]
    problems: tuple[str, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether the whole model can be compiled for the target, as far as is known. Graph breaks
        are no obstacle: what is between them runs in Python."""
        return bool(self.graphs) and not self.problems and all(g.is_ok for g in self.graphs)

    @property
    def flops(self) -> int:
        """Floating-point operations of a step, forward and backward."""
        return sum(graph.flops for graph in self.graphs)

    @property
    def saved_bytes(self) -> int:
        """Activations kept between forward and backward."""
        return sum(graph.saved_bytes for graph in self.graphs)

    def obstacles(self) -> Iterator[Obstacle]:
        """What keeps the model from being compiled, equal ones of several operations as one."""
        for problem in self.problems:
            first, _, rest = problem.partition("\n")
            yield Obstacle(first, "", rest)
        for graph in self.graphs:
            if graph.problem:
                first, _, rest = graph.problem.partition("\n")
                yield Obstacle(f"{graph.name}: {first}", "", rest)
        merged: dict[Obstacle, list[str]] = {}
        for graph in self.graphs:
            for prefix, operator, obstacle in _of_operations(graph):
                names = merged.setdefault(dataclasses.replace(obstacle, what=prefix), [])
                if operator not in names:
                    names.append(operator)
        for obstacle, names in merged.items():
            what = obstacle.what + ", ".join(names)
            yield dataclasses.replace(obstacle, what=what)

    def to_json(self) -> dict[str, Any]:
        """A JSON object: the fields of these classes, and `is_ok` and `flops` of each."""
        value = dataclasses.asdict(self)
        for graph, findings in zip(value["graphs"], self.graphs, strict=True):
            graph |= {"is_ok": findings.is_ok, "flops": findings.flops}
        totals = {"is_ok": self.is_ok, "flops": self.flops, "saved_bytes": self.saved_bytes}
        return {**totals, **value}

    def __str__(self) -> str:
        from neuron_compile.explanation.terminal import as_text

        return as_text(self)


def _of_operations(graph: GraphFindings) -> Iterator[tuple[str, str, Obstacle]]:
    """A prefix, an operator, and the obstacle without them."""
    unknown = f"{graph.name}, no source line known"
    for failure in graph.failures:
        operands = f" ({failure.arguments})" if failure.arguments else ""
        where = str(failure.source or unknown)
        yield "", failure.operator + operands, Obstacle("", where, failure.reason, failure.hint)
    for refusal, places in graph.verdict.refusals if graph.verdict else ():
        where = "\n".join(map(str, places)) or unknown
        obstacle = Obstacle("", where, refusal.why, refusal.way_out)
        yield f"NCC_{refusal.code}  ", refusal.operation, obstacle
