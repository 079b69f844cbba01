"""What happens during compilation, told to whoever listens."""

from __future__ import annotations

import enum
import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from neuron_compile.graph import NamedGraph

log = logging.getLogger("neuron_compile")


class Stage(enum.StrEnum):
    """The stages of one graph, by the one word used everywhere: log, report, dump file."""

    IMPORT = "import"
    LOWER = "lower"
    CODEGEN = "codegen"
    LOAD = "load"


@dataclass(frozen=True, slots=True)
class StageEvent:
    """A stage of a graph has ended. `outcome` is the cache's (`hit`, `produced`...) or empty;
    `dumps` gives the texts and bytes worth keeping for a person, by file name, to those who ask."""

    graph: NamedGraph
    stage: Stage
    seconds: float
    outcome: str = ""
    byte_count: int = 0
    dumps: Callable[[], Mapping[str, bytes | str]] = dict


class Observer(Protocol):
    """Listens to the conductor."""

    def stage_ended(self, event: StageEvent) -> None:
        """Called once a stage, in order."""


class Observers:
    """Several observers as one."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def stage_ended(self, event: StageEvent) -> None:
        """Tell each in turn."""
        for observer in self._observers:
            observer.stage_ended(event)


class Stopwatch:
    """Seconds since `stopwatch` was entered."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Elapsed wall time."""
        return time.perf_counter() - self._start


@contextmanager
def stopwatch(stage: Stage) -> Iterator[Stopwatch]:
    """Time a stage, which `torch._dynamo.utils.compile_times` and tlparse then show too."""
    from torch._dynamo.utils import dynamo_timed

    with dynamo_timed(f"neuron_{stage}", log_pt2_compile_event=True):
        yield Stopwatch()
