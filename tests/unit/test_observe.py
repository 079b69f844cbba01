"""Stages are timed, and told to every listener in order."""

from __future__ import annotations

import time

import torch
from torch._dynamo.utils import compilation_time_metrics

from fx_graphs import capture
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.observe import Observers, Stage, StageEvent, stopwatch


class Listener:
    def __init__(self, name: str, heard: list[str]) -> None:
        self.name, self.heard = name, heard

    def stage_ended(self, event: StageEvent) -> None:
        self.heard.append(f"{self.name} {event.stage}")


def test_observers_are_told_one_after_the_other() -> None:
    heard: list[str] = []
    graph = CapturedGraph("Net", GraphRole.FORWARD, capture(torch.sin, torch.ones(1)))
    both = Observers(Listener("a", heard), Listener("b", heard))
    both.stage_ended(StageEvent(graph, Stage.LOWER, 0.0))
    both.stage_ended(StageEvent(graph, Stage.LOAD, 0.0))
    assert heard == ["a lower", "b lower", "a load", "b load"]


def test_stopwatch_counts_seconds_and_enters_dynamos_phases() -> None:
    before = len(compilation_time_metrics.get("neuron_load", ()))
    start = time.perf_counter()
    with stopwatch(Stage.LOAD) as watch:
        first = watch.seconds
        assert 0 <= first <= watch.seconds <= time.perf_counter() - start
    assert len(compilation_time_metrics["neuron_load"]) == before + 1


def test_event_has_nothing_to_dump_unless_told() -> None:
    graph = CapturedGraph("Net", GraphRole.FORWARD, capture(torch.sin, torch.ones(1)))
    assert StageEvent(graph, Stage.LOAD, 0.0).dumps() == {}
