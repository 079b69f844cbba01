"""The gradient of `scan` where a step saves for it what it also gives.

PyTorch splits a step into one that saves and one that differentiates. What a step gives and saves
(the result of `tanh`) would then leave it twice, which PyTorch refuses in its next pass.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch
from torch._higher_order_ops.scan import ScanAutogradImpl
from torch.multiprocessing.reductions import StorageWeakRef

# The package has a function of the module's name.
_module: Final[Any] = importlib.import_module("torch._higher_order_ops.scan")


class _Separate(ScanAutogradImpl):
    """Saves copies of what shares memory with another result of the step."""

    def _optimize_forward_intermediates(self) -> None:
        super()._optimize_forward_intermediates()  # type: ignore[no-untyped-call]
        graph = self.hop_partitioned_graph.fw_gm.graph
        (output,) = graph.find_nodes(op="output")
        seen: set[StorageWeakRef] = set()
        results: list[Any] = []
        for node in output.args[0]:
            memory = _memory(node)
            is_cloned = node.target is torch.ops.aten.clone.default
            if memory in seen and not is_cloned:
                node = self._insert_clone(node, output)
            if memory is not None:
                seen.add(memory)
            results.append(node)
        output.args = (tuple(results),)
        self.hop_partitioned_graph.fw_gm.recompile()


@contextmanager
def scan_gradient() -> Iterator[None]:
    """While it lasts, steps are split so."""
    _module.ScanAutogradImpl = _Separate
    try:
        yield
    finally:
        _module.ScanAutogradImpl = ScanAutogradImpl


def _memory(node: Any) -> StorageWeakRef | None:
    value = node.meta.get("val")
    return StorageWeakRef(value.untyped_storage()) if isinstance(value, torch.Tensor) else None
