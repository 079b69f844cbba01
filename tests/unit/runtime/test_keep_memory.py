from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys
import torch
from neuron_compile.runtime.keep_memory import keep_memory

told = keep_memory()

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(25_000_000)  # 100 MB, freed at once
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

first, later = faults(), min(faults() for _ in range(6))
print(told, later < first / 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library is another one")
@pytest.mark.parametrize(("variable", "expected"), [("", "True True"), ("0", "False False")])
def test_a_large_block_is_not_faulted_in_again(
    monkeypatch: pytest.MonkeyPatch, variable: str, expected: str
) -> None:
    monkeypatch.setenv("NEURON_COMPILE_KEEP_MEMORY", variable)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stdout.strip() == expected
