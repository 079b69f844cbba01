"""Resident memory, read from the kernel."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys

import pytest

from neuron_compile.workers.memory import resident_bytes


def test_own_memory_grows_with_what_is_touched() -> None:
    before = resident_bytes(os.getpid())
    # Not from the C library, which may have kept as much from before.
    with mmap.mmap(-1, 50_000_000) as block:
        block.write(b"x" * 50_000_000)
        assert resident_bytes(os.getpid()) - before > 40_000_000


@pytest.mark.multiprocess
def test_children_count() -> None:
    code = "import sys; block = b'x' * 50_000_000; print(flush=True); sys.stdin.read()"
    before = resident_bytes(os.getpid())
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert resident_bytes(os.getpid()) - before > 45_000_000
        child.communicate()


def test_process_that_is_gone_has_none() -> None:
    assert resident_bytes(2**22 + 1) == 0
