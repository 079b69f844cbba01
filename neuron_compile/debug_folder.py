"""Writes what each graph looks like between the stages into a folder."""

from __future__ import annotations

import os
import re
from pathlib import Path

from neuron_compile.observe import StageEvent, log


class DebugFolder:
    """The observer behind `NEURON_COMPILE_DEBUG_DIR`.

    Each graph gets a folder `<process>_<number>_<model>_<role>` with `fx.txt`, `torch.mlir`,
    `stablehlo.mlir`, `program.json`, `manifest.json` and the NEFF, for cached graphs too, and
    `key.txt`, which `neuron-compile cache show` and `key` know the graph by.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def stage_ended(self, event: StageEvent) -> None:
        """Write the stage's dumps. A folder that cannot be written is logged, not raised."""
        graph = event.graph
        name = re.sub(r"\W+", "_", f"{graph.number}_{graph.model}_{graph.role}")
        folder = self._root / f"{os.getpid()}_{name}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file, content in event.dumps().items():
                _write(folder, file, content)
        except OSError as error:
            log.warning("cannot write the debug folder %s: %s", folder, error)


def _write(folder: Path, name: str, content: bytes | str) -> None:
    if name == "stablehlo" and isinstance(content, bytes):
        name, content = "stablehlo.mlir", _readable(content)
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)


def _readable(artifact: bytes) -> str:
    from neuron_compile.lowering.stablehlo_text import stablehlo_text

    return stablehlo_text(artifact)
