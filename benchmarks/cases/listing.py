"""Every case by name: what the runner has to know of it, and how a process makes it.

Knows no torch: the runner stays small, so that it takes nothing from what is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from benchmarks.backends import BACKENDS, EAGER, INDUCTOR, OURS
from benchmarks.workloads.listing import NAMES, workload_named

if TYPE_CHECKING:
    from benchmarks.cases.case import Case

DISPATCH: Final = "dispatch"
OPERATORS: Final = "operators"
OVERHEAD: Final = "overhead"
PRODUCT: Final = "product"
START: Final = "start"
THREADS: Final = "threads"
# The workload whose start and whose memory are held against the bars.
MEASURED_START: Final = "gpt2_128"


@dataclass(frozen=True, slots=True)
class Row:
    """Under which backends a case makes sense. One that is `restarted` begins each round with empty
    caches and runs twice, so that each round has a cold and a warm start."""

    make: Callable[[], Case]
    backends: tuple[str, ...] = BACKENDS
    restarted: bool = False


def _model(name: str) -> Callable[[], Case]:
    def make() -> Case:
        from benchmarks.cases.model import ModelCase

        return ModelCase(workload_named(name))

    return make


def _start() -> Case:
    from benchmarks.cases.start import StartCase

    return StartCase(workload_named(MEASURED_START))


def _dispatch() -> Case:
    from benchmarks.cases.dispatch import DispatchCase

    return DispatchCase()


def _operators() -> Case:
    from benchmarks.cases.operators import OperatorsCase

    return OperatorsCase()


def _overhead() -> Case:
    from benchmarks.cases.overhead import OverheadCase

    return OverheadCase((workload_named("mlp"), workload_named("bert_128")))


def _product() -> Case:
    from benchmarks.cases.product import ProductCase

    return ProductCase()


def _threads() -> Case:
    from benchmarks.cases.threads import ThreadsCase

    return ThreadsCase()


CASES: Final[dict[str, Row]] = {
    **{name: Row(_model(name)) for name in NAMES},
    START: Row(_start, (OURS, INDUCTOR), restarted=True),
    DISPATCH: Row(_dispatch),
    OPERATORS: Row(_operators),
    OVERHEAD: Row(_overhead, (OURS,)),
    PRODUCT: Row(_product, (OURS, EAGER)),
    THREADS: Row(_threads, (OURS, INDUCTOR)),
}


def case_named(name: str) -> Case:
    """The case. Raises `KeyError` for a name that is not in `CASES`."""
    return CASES[name].make()
