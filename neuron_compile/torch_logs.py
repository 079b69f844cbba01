"""PyTorch's own ways to see what a backend does: TORCH_LOGS, counters, tlparse."""

from __future__ import annotations

import logging
from typing import Any

from torch._dynamo.utils import counters
from torch._logging._internal import _is_torch_handler, trace_structured

from neuron_compile.observe import Stage, StageEvent, log


def follow_torch_logs() -> None:
    """Make `TORCH_LOGS="neuron"` and `torch._logging.set_logs` steer our logger.

    PyTorch sets level and handler of a logger called `neuron`; ours takes both from it, now and
    whenever they change. `TORCH_LOGS="neuron_compile"` names ours itself and has the last word.
    """
    log.parent = logging.getLogger("neuron")
    for logger in (log, log.parent):
        # As for PyTorch's own loggers: else a handler of the user's root logger repeats each line.
        if any(map(_is_torch_handler, logger.handlers)):
            logger.propagate = False


class TorchLogs:
    """The observer that feeds TORCH_LOGS, `torch._dynamo.utils.counters["neuron"]`, tlparse."""

    def __init__(self) -> None:
        follow_torch_logs()

    def stage_ended(self, event: StageEvent) -> None:
        """Log the stage, count it, and attach StableHLO to the structured trace."""
        _count(event)
        log.info(
            "%s: %s %s in %.3f s, %d bytes",
            event.graph.name,
            event.stage,
            event.outcome or "done",
            event.seconds,
            event.byte_count,
        )
        if log.isEnabledFor(logging.DEBUG):
            for name, text in _texts(event).items():
                log.debug("%s: %s\n%s", event.graph.name, name, text)
        if event.stage is Stage.LOWER:
            name = f"neuron_stablehlo_{event.graph.role}_{event.graph.number}"
            trace_structured(
                "artifact",
                metadata_fn=lambda: {"name": name, "encoding": "string"},
                payload_fn=lambda: _texts(event)["stablehlo"],
            )


def _count(event: StageEvent) -> None:
    counted: Any = counters["neuron"]
    if event.stage is Stage.IMPORT:
        counted["graphs"] += 1
        counted[f"{event.graph.role}_graphs"] += 1
    if event.outcome:
        counted[f"{event.stage}_{event.outcome.replace(' ', '_')}"] += 1


def _texts(event: StageEvent) -> dict[str, str]:
    """What a stage leaves for people to read; StableHLO, which travels as bytes, as text."""
    from neuron_compile.lowering.stablehlo_text import stablehlo_text

    texts = {}
    for name, content in event.dumps().items():
        if isinstance(content, str):
            texts[name] = content
        elif name == "stablehlo":
            texts[name] = stablehlo_text(content)
    return texts
