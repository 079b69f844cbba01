"""A program held against a device."""

from __future__ import annotations

from collections import Counter

from neuron_compile.codegen.legality.device import Device
from neuron_compile.codegen.legality.readiness import assess
from neuron_compile.explanation.findings import DeviceVerdict
from neuron_compile.lowering.from_fx import NodeOrigin


def verdict_on(stablehlo: bytes, device: Device, origins: tuple[NodeOrigin, ...]) -> DeviceVerdict:
    """The verdict on a portable StableHLO artifact, whose nodes come from `origins`."""
    found = assess(stablehlo, device)
    refusals = []
    for refusal in found.refusals:
        sources = [origins[node].source for node in refusal.nodes if node < len(origins)]
        refusals.append((refusal, tuple(dict.fromkeys(line for line in sources if line))))
    return DeviceVerdict(
        target=device.name,
        refusals=tuple(refusals),
        rewritten=tuple(sorted(Counter(done.code for done in found.rewritten).items())),
        undocumented=found.undocumented_operators,
        element_types=found.element_types,
        narrowed_count=found.narrowed_count,
        operation_count=found.operation_count,
        argument_bytes=found.argument_bytes,
        result_bytes=found.result_bytes,
        peak_bytes=found.peak_bytes,
        memory_bytes=device.memory_bytes,
    )
