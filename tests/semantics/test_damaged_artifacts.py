"""Machine code from the cache is proven to be what was stored before XLA sees a byte of it."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters

from neuron_compile.artifact.neff import HOST_EXECUTABLE, unpack_neff
from neuron_compile.cache import ActionCache, CacheWarning
from neuron_compile.codegen import host
from neuron_compile.lowering import LoweredProgram
from neuron_compile.pjrt.host_cpu import host_cpu
from neuron_compile.runtime import pjrt_executable
from parity import compiled, neuron_only

pytestmark = neuron_only

Damage = Callable[[bytes], bytes]

X = torch.linspace(-2, 2, 6).view(2, 3)


def function(x: Tensor) -> Tensor:
    return (x @ x.t()).tanh()


def run() -> Tensor:
    """As a new process would: from the cache, if that has it."""
    torch._dynamo.reset()
    result: Tensor = compiled(function)(X)
    return result


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """All bytes that XLA was asked to make code of."""
    seen: list[bytes] = []
    real = pjrt_executable.PjrtExecutable.__init__

    def init(self: Any, code: bytes, *rest: Any) -> None:
        seen.append(bytes(code))
        real(self, code, *rest)

    monkeypatch.setattr(pjrt_executable.PjrtExecutable, "__init__", init)
    return seen


def stored(cache: Path) -> Path:
    """The NEFF of the one entry that has one."""
    blobs = (cache / "cas").glob("*/*")
    return max(blobs, key=lambda path: path.stat().st_size)


@pytest.fixture
def neff(tmp_path: Path) -> Path:
    """The stored machine code of `function`."""
    run()
    return stored(tmp_path / "neuron-cache")


def test_fresh_and_cached_code_is_loaded_from_the_same_bytes(loaded: list[bytes]) -> None:
    first, second = run(), run()
    assert torch.equal(first, second)
    assert len(loaded) == 2
    assert loaded[0] == loaded[1]


def cut(percent: int) -> Damage:
    return lambda data: data[: len(data) * percent // 100]


def flipped(start: float, end: float, seed: int) -> Damage:
    """One bit, somewhere between two parts of the file."""

    def damage(data: bytes) -> bytes:
        choice = random.Random(seed)
        at = choice.randrange(int(start * len(data)), int(end * len(data)))
        return data[:at] + bytes([data[at] ^ 1 << choice.randrange(8)]) + data[at + 1 :]

    return damage


DAMAGES = [
    *map(cut, (0, 1, 50, 99)),
    *(flipped(place / 8, (place + 1) / 8, place) for place in range(8)),
]


@pytest.mark.filterwarnings("ignore::neuron_compile.cache.CacheWarning")
def test_no_damaged_byte_reaches_xla_and_the_code_is_made_anew(
    loaded: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bytes] = []
    generate = host.HostCodeGenerator.generate

    def record(self: host.HostCodeGenerator, program: LoweredProgram) -> Mapping[str, bytes]:
        blobs = generate(self, program)
        made.append(unpack_neff(blobs["neff"]).members[HOST_EXECUTABLE])
        return blobs

    monkeypatch.setattr(host.HostCodeGenerator, "generate", record)
    expected = run()
    rounds = 0
    for rounds in range(1, len(DAMAGES) + 1):
        neff = stored(tmp_path / "neuron-cache")
        neff.write_bytes(DAMAGES[rounds - 1](neff.read_bytes()))
        assert torch.equal(run(), expected)
        assert torch.equal(run(), expected)
        assert len(made) == rounds + 1, "made anew, and then found again"
    assert len(loaded) == 1 + 2 * rounds
    assert set(loaded) <= set(made)


@pytest.mark.filterwarnings("ignore::neuron_compile.cache.CacheWarning")
def test_two_hundred_flipped_bits_are_all_noticed(neff: Path, tmp_path: Path) -> None:
    cache = ActionCache(tmp_path / "neuron-cache")
    (entry,) = (entry for entry in cache.entries() if entry.kind == "codegen")
    intact = neff.read_bytes()
    for seed in range(200):
        neff.write_bytes(flipped(0, 1, seed)(intact))
        assert cache.read(entry) is None
    neff.write_bytes(intact)
    blobs = cache.read(entry)
    assert blobs is not None
    assert blobs["neff"] == intact


@pytest.mark.parametrize("what", ["action", "blob"])
def test_one_warning_says_what_was_set_aside(neff: Path, what: str) -> None:
    path = neff
    if what == "action":
        path = max((neff.parents[2] / "ac").glob("*/*"), key=lambda item: item.stat().st_mtime_ns)
    path.write_bytes(path.read_bytes()[:-1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.testing.assert_close(run(), function(X))
        run()
    assert [warning.category for warning in caught] == [CacheWarning]
    assert "set aside" in str(caught[0].message)
    assert len(list((neff.parents[2] / "quarantine").iterdir())) == 1


@pytest.mark.parametrize("fact", ["features", "architecture"])
def test_code_for_another_processor_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, fact: str
) -> None:
    """A machine with one feature more may have used its instructions."""
    here = host_cpu()
    assert fact in dict(here)
    there = tuple((name, f"{value} more" if name == fact else value) for name, value in here)
    outcomes = []
    for facts in (there, here, there, here):
        monkeypatch.setattr(host, "host_cpu", lambda facts=facts: facts)
        counters["neuron"].clear()
        torch.testing.assert_close(run(), function(X))
        outcomes.append((counters["neuron"]["codegen_produced"], counters["neuron"]["codegen_hit"]))
    assert outcomes == [(1, 0), (1, 0), (0, 1), (0, 1)]
