"""PyTorch's own ways to see what a backend does: TORCH_LOGS, counters, tlparse."""

from __future__ import annotations

import logging

from torch._dynamo.utils import counters
from torch._logging import trace_structured

from neuron_compile.observe import Stage, StageEvent, log


class TorchLogs:
    """The observer that feeds `TORCH_LOGS`, `torch._dynamo.utils.counters["neuron"]` and tlparse."""

    def stage_ended(self, event: StageEvent) -> None:
        """Log the stage, count it, and attach StableHLO to the structured trace."""
        counted = counters["neuron"]
        if event.stage is Stage.IMPORT:
            counted["graphs"] += 1
            counted[f"{event.graph.role}_graphs"] += 1
        if event.outcome:
            counted[f"{event.stage}_{event.outcome.replace(' ', '_')}"] += 1
        log.info(
            "%s: %s %s in %.3f s, %d bytes",
            event.graph.name,
            event.stage,
            event.outcome or "done",
            event.seconds,
            event.byte_count,
        )
        if log.isEnabledFor(logging.DEBUG) and event.stage in (Stage.IMPORT, Stage.LOWER):
            for name, text in event.dumps().items():
                if isinstance(text, str):
                    log.debug("%s: %s\n%s", event.graph.name, name, text)
        if event.stage is Stage.LOWER:
            trace_structured(
                "artifact",
                metadata_fn=lambda: {
                    "name": f"neuron_stablehlo_{event.graph.role}_{event.graph.number}",
                    "encoding": "string",
                },
                payload_fn=lambda: _stablehlo(event),
            )


def _stablehlo(event: StageEvent) -> str:
    from neuron_compile.lowering.stablehlo_text import stablehlo_text

    artifact = event.dumps()["stablehlo"]
    assert isinstance(artifact, bytes)
    return stablehlo_text(artifact)
