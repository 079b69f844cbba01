"""The conductor: stages in order, results through the cache, errors with the user's words."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch.fx import GraphModule

from fx_graphs import capture
from neuron_compile import ExecutionError, UnsupportedOpError
from neuron_compile.artifact.manifest import Manifest
from neuron_compile.artifact.neff import HOST_EXECUTABLE, pack_neff
from neuron_compile.cache import ActionCache, CachePolicy
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.compiler import Compiler
from neuron_compile.graph import CapturedGraph, GraphRole
from neuron_compile.lowering import LoweredProgram
from neuron_compile.observe import Stage, StageEvent
from neuron_compile.options import CompileOptions


class Recorder:
    def __init__(self) -> None:
        self.events: list[StageEvent] = []

    def stage_ended(self, event: StageEvent) -> None:
        self.events.append(event)

    @property
    def outcomes(self) -> list[tuple[Stage, str]]:
        return [(event.stage, event.outcome) for event in self.events]


def compiler(folder: Path, recorder: Recorder, options: CompileOptions | None = None) -> Compiler:
    cache = ActionCache(folder)
    return Compiler(options or CompileOptions(), HostCodeGenerator(), cache, recorder)


def graph(module: GraphModule | None = None, role: GraphRole = GraphRole.FORWARD) -> CapturedGraph:
    return CapturedGraph("Net", role, module or capture(lambda x: x.sin() + 1, torch.ones(3)))


def test_stages_run_in_order_and_warm_ones_come_from_the_cache(tmp_path: Path) -> None:
    recorder = Recorder()
    conductor = compiler(tmp_path, recorder)
    x = torch.randn(3)
    results = [conductor.compile(graph())([x])[0] for _ in range(2)]
    assert recorder.outcomes == [
        (Stage.IMPORT, ""),
        (Stage.LOWER, "produced"),
        (Stage.CODEGEN, "produced"),
        (Stage.LOAD, ""),
        (Stage.IMPORT, ""),
        (Stage.LOWER, "hit"),
        (Stage.CODEGEN, "hit"),
        (Stage.LOAD, ""),
    ]
    torch.testing.assert_close(results[0], x.sin() + 1)
    assert torch.equal(results[0], results[1])
    assert all(event.seconds >= 0 for event in recorder.events)


def test_another_process_finds_the_same_entries(tmp_path: Path) -> None:
    compiler(tmp_path, Recorder()).compile(graph())
    recorder = Recorder()
    compiler(tmp_path, recorder).compile(graph())
    assert dict(recorder.outcomes)[Stage.CODEGEN] == "hit"


def test_name_and_role_enter_no_key(tmp_path: Path) -> None:
    conductor = compiler(tmp_path, recorder := Recorder())
    conductor.compile(graph())
    module = capture(lambda x: x.sin() + 1, torch.ones(3))
    conductor.compile(CapturedGraph("Other", GraphRole.INFERENCE, module))
    assert recorder.outcomes[-2] == (Stage.CODEGEN, "hit")


def test_dumps_are_there_for_fresh_and_cached_graphs(tmp_path: Path) -> None:
    conductor = compiler(tmp_path, recorder := Recorder())
    for _ in range(2):
        conductor.compile(graph())
    dumps = [
        {name for e in part for name in e.dumps()}
        for part in (recorder.events[:4], recorder.events[4:])
    ]
    expected = {
        *("fx.txt", "torch.mlir", "key.txt"),
        *("stablehlo", "program.json", "manifest.json", "neff"),
    }
    assert dumps == [expected, expected]
    assert recorder.events[2].byte_count == sum(map(len, recorder.events[2].dumps().values()))


def test_index_checks_are_the_forward_graphs_and_can_be_left_out(tmp_path: Path) -> None:
    def look_up(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return x[i]

    module = capture(look_up, torch.ones(3), torch.tensor([0]))
    arguments = [torch.arange(3.0), torch.tensor([2])]
    for options, role, is_checked in (
        (CompileOptions(), GraphRole.FORWARD, True),
        (CompileOptions(), GraphRole.BACKWARD, False),
        (CompileOptions(bounds_checks=False), GraphRole.FORWARD, False),
    ):
        compiled = compiler(tmp_path, Recorder(), options).compile(graph(module, role))
        assert compiled(list(arguments))[0].tolist() == [2.0]
        if is_checked:
            with pytest.raises(IndexError):
                compiled([arguments[0], torch.tensor([9])])


def test_failure_is_not_remembered(tmp_path: Path) -> None:
    conductor = compiler(tmp_path, recorder := Recorder())

    def unsupported(x: torch.Tensor) -> torch.Tensor:
        return torch.ops.neuron_compiler_tests.cube(x)  # type: ignore[no-any-return]

    with torch.library._scoped_library("neuron_compiler_tests", "FRAGMENT") as library:
        library.define("cube(Tensor x) -> Tensor")
        library.impl("cube", lambda x: x**3, "CompositeExplicitAutograd")
        torch.library.register_fake("neuron_compiler_tests::cube", torch.empty_like, lib=library)
        module = capture(unsupported, torch.ones(3))
        for _ in range(2):
            with pytest.raises(UnsupportedOpError, match="cube"):
                conductor.compile(graph(module))
    assert recorder.outcomes == [(Stage.IMPORT, "")] * 2


class Refused(HostCodeGenerator):
    """Makes artifacts that verify and that XLA cannot load, the first `bad` times."""

    def __init__(self, bad: int) -> None:
        super().__init__()
        self.bad = bad
        self.calls = 0

    def generate(self, program: LoweredProgram) -> Mapping[str, bytes]:
        blobs = dict(super().generate(program))
        self.calls += 1
        if self.calls <= self.bad:
            neff = pack_neff({HOST_EXECUTABLE: b"other"}, target="host", compressed=False)
            digest = hashlib.sha256(neff).hexdigest()
            manifest = Manifest.from_json(blobs["manifest.json"])
            manifest = dataclasses.replace(manifest, neff_sha256=digest)
            blobs = {**blobs, "neff": neff, "manifest.json": manifest.to_json()}
        return blobs


@pytest.mark.filterwarnings("ignore::neuron_compile.cache.CacheWarning")
def test_artifact_that_cannot_be_loaded_is_replaced(tmp_path: Path) -> None:
    generator, cache = Refused(bad=1), ActionCache(tmp_path)
    conductor = Compiler(CompileOptions(), generator, cache, Recorder())
    with pytest.raises(ExecutionError, match="XLA could not load"):
        conductor.compile(graph())
    assert generator.calls == 1
    for _ in range(2):
        (result,) = conductor.compile(graph())([torch.zeros(3)])
        assert result.tolist() == [1, 1, 1]
    assert generator.calls == 2


@pytest.mark.filterwarnings("ignore::neuron_compile.cache.CacheWarning")
def test_second_refusal_is_the_end(tmp_path: Path) -> None:
    generator, cache = Refused(bad=9), ActionCache(tmp_path)
    for calls in (1, 2):
        with pytest.raises(ExecutionError, match="XLA could not load"):
            Compiler(CompileOptions(), generator, cache, Recorder()).compile(graph())
        assert generator.calls == calls


def test_required_cache_keeps_what_cannot_be_loaded(tmp_path: Path) -> None:
    generator = Refused(bad=1)
    caches = [ActionCache(tmp_path, policy=CachePolicy(require_cache=r)) for r in (False, True)]
    for cache in caches:
        with pytest.raises(ExecutionError, match="XLA could not load"):
            Compiler(CompileOptions(), generator, cache, Recorder()).compile(graph())
    assert generator.calls == 1
