"""The plain data that passes between the stages of lowering. No torch, no MLIR.

All of it is frozen and made of plain values, so that a stage can run in another process and a
test can build any of it by hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from neuron_compile.lowering.dtypes import ELEMENT_TYPES


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor as PyTorch sees it: logical shape, dtype name (`"float32"`), strides in elements."""

    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]

    @property
    def element_count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def byte_count(self) -> int:
        """Bytes of a dense copy."""
        return self.element_count * ELEMENT_TYPES[self.dtype].itemsize

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        return {"shape": list(self.shape), "dtype": self.dtype, "strides": list(self.strides)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> TensorSpec:
        """Read what `to_json` wrote."""
        return cls(tuple(value["shape"]), value["dtype"], tuple(value["strides"]))


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A call of a StableHLO library function, placed in the torch program as a custom call.

    `symbol` is the custom call's target and the name of the function to link in. `arguments` is the
    encoded tree of the ATen call's arguments (see `library.arguments`), in which tensors are
    numbered operands; `operands` and `results` are their types. A result that ATen returns as None
    or that nobody asked for is None.
    """

    symbol: str
    operator: str
    arguments: str
    operands: tuple[TensorSpec, ...]
    results: tuple[TensorSpec | None, ...]


# The attribute of a function in a StableHLO program that says which ATen call it computes: JSON of
# `operator`, encoded `arguments`, and the indices of those of its `results` that are returned.
CALL_MARK: Final = "neuron_compile.call"


@dataclass(frozen=True, slots=True)
class TorchProgram:
    """A graph in Torch-MLIR's torch dialect: `module` is MLIR text whose only locations are node
    numbers (`loc("n12")`), so that it holds no path; `calls` are the library functions it needs."""

    module: str
    calls: tuple[LibraryCall, ...] = ()


@dataclass(frozen=True, slots=True)
class InputResult:
    """A graph's result that is its argument number `argument`, the same object."""

    argument: int


@dataclass(frozen=True, slots=True)
class ConstantResult:
    """A graph's result that is a Python value."""

    value: Any


@dataclass(frozen=True, slots=True)
class SameResult:
    """A graph's result that shares the memory of its result number `slot`."""

    slot: int


@dataclass(frozen=True, slots=True)
class CopiedResult:
    """A graph's result that has the values of its result number `slot`, in memory of its own."""

    slot: int


@dataclass(frozen=True, slots=True)
class ViewResult:
    """A graph's result that is a view of the program's output number `output`: of type `spec`,
    `offset` elements into it."""

    output: int
    spec: TensorSpec
    offset: int


# An int is the program's output of that number; None is None.
ResultSlot = int | None | InputResult | ConstantResult | SameResult | CopiedResult | ViewResult


@dataclass(frozen=True, slots=True)
class RuntimeCheck:
    """A condition that eager execution would have raised for, computed by the graph.

    The program's check output holds one bool per entry, true where the check failed; the
    runtime then raises `exception` with `message`.
    """

    exception: str
    message: str


@dataclass(frozen=True, slots=True)
class Signature:
    """How a program's buffers map to the tensors of the FX graph's calling convention.

    - `inputs`: one entry for each placeholder of the FX graph; None where the argument is not a
      tensor (a Python number, already folded into the program).
    - `kept_inputs`: the placeholders that the program takes, in its order.
    - `seed_count`: how many int64 seeds follow the kept inputs, as one tensor of that length; 0
      means no such input.
    - `outputs`: the program's results as PyTorch sees them, in the program's order.
    - `result_slots`: one entry for each result of the FX graph: where it comes from.
    - `checks`: what the program's last result (a bool vector) means; empty means no such result.
    """

    inputs: tuple[TensorSpec | None, ...]
    kept_inputs: tuple[int, ...]
    outputs: tuple[TensorSpec, ...]
    result_slots: tuple[ResultSlot, ...]
    seed_count: int = 0
    checks: tuple[RuntimeCheck, ...] = ()


@dataclass(frozen=True, slots=True)
class LoweredProgram:
    """A program in StableHLO: `stablehlo` is MLIR bytecode of a portable artifact, whose function
    `main` takes `inputs` and returns `outputs`, all dense and row-major; `custom_calls` are the
    names of the custom call targets it contains (for the host: LAPACK kernels to register before
    loading); `digest` is the SHA-256 of the artifact without locations, which are the numbers of
    FX nodes and say nothing about what the program computes."""

    stablehlo: bytes
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    digest: str
    custom_calls: tuple[str, ...] = ()
