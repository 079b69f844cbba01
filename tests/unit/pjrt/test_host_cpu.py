"""What machine code depends on, read from the kernel's description of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neuron_compile.pjrt import host_cpu as module
from neuron_compile.pjrt.host_cpu import host_cpu

INTEL = (
    "processor : 0\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 106\n"
    "model name : Xeon: fast\ncpu MHz : 2899.9\nflags : sse2 avx fma\n\n"
    "processor : 1\nflags : none\n"
)


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    host_cpu.cache_clear()
    yield
    host_cpu.cache_clear()


def facts(monkeypatch: pytest.MonkeyPatch, text: str) -> dict[str, str]:
    host_cpu.cache_clear()
    monkeypatch.setattr(module, "_read_cpuinfo", lambda: text)
    return dict(host_cpu())


def test_features_are_sorted_and_clock_and_names_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = facts(monkeypatch, INTEL)
    del found["architecture"]
    assert found == {
        "vendor_id": "GenuineIntel",
        "cpu family": "6",
        "model": "106",
        "features": "avx fma sse2",
    }


def test_order_and_clock_do_not_matter_and_a_feature_does(monkeypatch: pytest.MonkeyPatch) -> None:
    base = facts(monkeypatch, INTEL)
    same = INTEL.replace("sse2 avx fma", "fma sse2 avx").replace("2899.9", "1000.0")
    assert facts(monkeypatch, same) == base
    assert facts(monkeypatch, INTEL.replace(" fma", "")) != base


def test_arm_names_its_features_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "processor : 0\nFeatures : fp asimd\nCPU implementer : 0x41\nCPU part : 0xd40\n"
    found = facts(monkeypatch, text)
    assert found["features"] == "asimd fp"
    assert found["CPU part"] == "0xd40"


def test_machine_without_the_file_still_has_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert dict(host_cpu())["architecture"]
