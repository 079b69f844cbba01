"""Where a compiled model departs from eager PyTorch: `neuron-compile bisect`."""

from __future__ import annotations
