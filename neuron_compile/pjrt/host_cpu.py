"""What the machine code of a host executable depends on."""

from __future__ import annotations

import functools
import platform
from pathlib import Path

# The fields of /proc/cpuinfo by which LLVM chooses the processor model it tunes for.
_MODEL_FIELDS = ("vendor_id", "cpu family", "model", "CPU implementer", "CPU part")
_FEATURE_FIELDS = ("flags", "Features")


@functools.cache
def host_cpu() -> tuple[tuple[str, str], ...]:
    """Named facts of this CPU: architecture, model, and its feature flags in sorted order.

    Code made under one value may use instructions that a CPU with another value lacks.
    """
    facts = {"architecture": platform.machine()}
    first_processor = _read_cpuinfo().partition("\n\n")[0]
    fields = {
        name.strip(): value.strip()
        for name, colon, value in (line.partition(":") for line in first_processor.splitlines())
        if colon
    }
    for name in _MODEL_FIELDS:
        if name in fields:
            facts[name] = fields[name]
    for name in _FEATURE_FIELDS:
        if name in fields:
            facts["features"] = " ".join(sorted(fields[name].split()))
    return tuple(sorted(facts.items()))


def _read_cpuinfo() -> str:
    try:
        return Path("/proc/cpuinfo").read_text()
    except OSError:
        return f"model : {platform.processor()}\n"
