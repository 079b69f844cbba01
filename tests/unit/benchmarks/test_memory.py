from __future__ import annotations

import torch

from benchmarks.memory import forget_peak, peak_bytes

MEBIBYTES = 64


def test_a_peak_is_seen_and_forgotten() -> None:
    forget_peak()
    before = peak_bytes()
    torch.ones(MEBIBYTES << 18)
    peak = peak_bytes()
    forget_peak()
    assert peak - before > (MEBIBYTES << 20) * 0.9
    assert peak - peak_bytes() > (MEBIBYTES << 20) * 0.9
