"""The two actions through the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from fx_graphs import capture
from neuron_compile import actions
from neuron_compile.build import Build
from neuron_compile.cache import ActionCache, Outcome
from neuron_compile.codegen.host import HostCodeGenerator
from neuron_compile.lowering import TorchProgram
from neuron_compile.lowering.from_fx import FxLowering, from_fx
from neuron_compile.workers.in_process import InProcess
from neuron_compile.workers.runner import ToolsChangedError


def imported() -> FxLowering:
    return from_fx(capture(lambda x: (x + 1,), torch.ones(3)))


def test_second_time_nothing_is_carried_out(tmp_path: Path) -> None:
    generator = HostCodeGenerator()
    build = Build(generator, ActionCache(tmp_path), InProcess(generator))
    around: list[str] = []

    def note(produce: object) -> Mapping[str, bytes]:
        assert callable(produce)
        around.append("work")
        blobs: Mapping[str, bytes] = produce()
        return blobs

    outcomes = []
    for _ in range(2):
        lowered = build.lower("net", imported(), note)
        artifact = build.generate("net", lowered, note)
        outcomes += [lowered.outcome, artifact.outcome]
    assert outcomes == [Outcome.PRODUCED, Outcome.PRODUCED, Outcome.HIT, Outcome.HIT]
    assert around == ["work", "work"]


def test_key_is_made_again_when_the_tools_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Changing(InProcess):
        tries = 0

        def lower(self, program: TorchProgram) -> Mapping[str, bytes]:
            self.tries += 1
            if self.tries == 1:
                monkeypatch.setattr(actions, "lowering_tools", lambda: (("source", b"new"),))
                raise ToolsChangedError
            return super().lower(program)

    generator = HostCodeGenerator()
    cache = ActionCache(tmp_path)
    Build(generator, cache, Changing(generator)).lower("net", imported())
    (entry,) = cache.entries()
    assert ("source", b"new") in actions.lower_key(imported().program)
    assert entry.key == Build.lower_key(imported()).digest


def test_what_has_lost_a_blob_is_not_generated(tmp_path: Path) -> None:
    generator = HostCodeGenerator()
    build = Build(generator, ActionCache(tmp_path), InProcess(generator))
    lowered = build.lower("net", imported())
    assert not build.is_generated(lowered)
    artifact = build.generate("net", lowered)
    assert build.is_generated(lowered)
    digest = hashlib.sha256(artifact.blobs["manifest.json"]).hexdigest()
    (tmp_path / "cas" / digest[:2] / digest).unlink()
    assert not build.is_generated(lowered)
