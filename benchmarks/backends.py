"""What is measured: eager PyTorch and what torch.compile can be asked for."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

OURS: Final = "neuron"
EAGER: Final = "eager"
INDUCTOR: Final = "inductor"
OPENVINO: Final = "openvino"
PEERS: Final = (EAGER, INDUCTOR, OPENVINO)
BACKENDS: Final = (OURS, *PEERS)


@dataclass(frozen=True, slots=True)
class Backend:
    """One contender."""

    name: str

    @property
    def is_eager(self) -> bool:
        """Whether nothing is compiled."""
        return self.name == EAGER

    def compile(self, function: Any) -> Callable[..., Any]:
        """`function`, a callable or a module, compiled for static shapes as a user would."""
        if self.is_eager:
            return function  # type: ignore[no-any-return]
        import torch

        return torch.compile(function, backend=self.name, dynamic=False)


def missing(name: str) -> str | None:
    """Why a backend cannot be measured here, or None if it can."""
    if name == INDUCTOR and not (shutil.which("g++") or shutil.which("clang++")):
        return "it needs a C++ compiler"
    if name == OPENVINO and importlib.util.find_spec("openvino") is None:
        return "openvino is not installed"
    return None
