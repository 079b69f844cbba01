"""A graph as AOTAutograd hands it over."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch.fx


class GraphRole(enum.StrEnum):
    """Which of AOTAutograd's graphs it is."""

    FORWARD = "forward"
    BACKWARD = "backward"
    INFERENCE = "inference"


@dataclass(frozen=True, slots=True)
class CapturedGraph:
    """One functional FX graph, whose nodes carry fake tensors in `meta["val"]`.

    `name` is for people (`GPT2LMHeadModel_0 backward`) and enters no cache key.
    """

    name: str
    role: GraphRole
    module: torch.fx.GraphModule
