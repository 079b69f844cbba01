"""Names of series and facts, by which what processes measured is found again in the results."""

from __future__ import annotations

from typing import Final

# Modes of a workload; the compiled step has a compiled optimizer too.
FORWARD_BACKWARD: Final = "forward_backward"
INFERENCE: Final = "inference"
TRAIN: Final = "train_step"
TRAIN_COMPILED: Final = "train_step_compiled"
MODES: Final = (FORWARD_BACKWARD, INFERENCE, TRAIN, TRAIN_COMPILED)

# From before torch.compile to the first backward done.
START: Final = "start"
# One call of a graph whose operations cost next to nothing.
CALL: Final = "call"
# One large matrix product.
PRODUCT: Final = "product"
# Eager code by itself, and right after a compiled call.
ALONE: Final = "alone"
AFTER: Final = "after"

PROCESS_PEAK: Final = "peak_bytes process"


def peak_of(mode: str) -> str:
    """The fact that is a mode's peak of resident memory in steady state."""
    return f"peak_bytes {mode}"


def flops_of(series: str) -> str:
    """The fact that is the floating point operations of one call, of products and convolutions."""
    return f"flops {series}"


def through_us(workload: str) -> str:
    """The series of a workload's program called through torch.compile."""
    return f"compiled {workload}"


def directly(workload: str) -> str:
    """The series of the same program executed through jaxlib."""
    return f"direct {workload}"
