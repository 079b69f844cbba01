"""What a program is compiled for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Target:
    """A machine that NEFFs are made for.

    `is_device` tells Trainium and Inferentia from the host; `logical_cores` is neuronx-cc's
    default for `--lnc` (AWS Neuron documentation, "Logical NeuronCore configuration").
    """

    name: str
    is_device: bool
    logical_cores: int = 1


HOST: Final = Target("host", is_device=False)

TARGETS: Final = {
    target.name: target
    for target in (
        HOST,
        Target("trn1", is_device=True),
        Target("trn1n", is_device=True),
        Target("trn2", is_device=True, logical_cores=2),
        Target("trn3", is_device=True, logical_cores=2),
        Target("inf2", is_device=True),
    )
}
