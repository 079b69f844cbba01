"""What the documentation says about each target that decides what its compiler accepts.

Sources: AWS Neuron documentation, "Data Types" (native 64-bit integers from Trn2 on, F8E4M3FN from
Trn3 on), the pages of error codes NCC_EVRF035, 051, 052 and 060 to 063 (which targets they
concern), and the hardware pages (device memory of a chip over its NeuronCores).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from neuron_compile.target import TARGETS

GIB: Final = 1 << 30

INTEGER_DOWNCASTS: Final = frozenset({"dot", "scatter", "all_reduce", "reduce_scatter", "pow"})


@dataclass(frozen=True, slots=True)
class Device:
    """A target as the legality checks see it.

    `generation` is the NeuronCore version. `core_memory_bytes` is the device memory of one physical
    core; a program has it `logical_cores` times. `downcasts` are the operations for which the user
    allowed a lossy integer downcast (`--implicit-integer-downcast`), and `has_int64` whether 64-bit
    integers keep all their bits (`--native-int64 enabled`, from generation 3 on).
    """

    name: str
    generation: int
    core_memory_bytes: int
    logical_cores: int
    has_int64: bool
    downcasts: frozenset[str] = frozenset()

    @property
    def memory_bytes(self) -> int:
        """Device memory that one program can use."""
        return self.core_memory_bytes * self.logical_cores


_GENERATIONS: Final = {"trn1": 2, "trn1n": 2, "inf2": 2, "trn2": 3, "trn3": 4}
_CORE_MEMORY_BYTES: Final = {2: 16 * GIB, 3: 12 * GIB, 4: 18 * GIB}


def device_of(
    target: str,
    *,
    logical_cores: int | None = None,
    native_int64: bool = True,
    downcasts: frozenset[str] = frozenset(),
) -> Device:
    """The facts of a device target of `TARGETS`, under what the user's flags change.

    Raises `KeyError` for the host and for unknown names.
    """
    generation = _GENERATIONS[target]
    return Device(
        name=target,
        generation=generation,
        core_memory_bytes=_CORE_MEMORY_BYTES[generation],
        logical_cores=logical_cores or TARGETS[target].logical_cores,
        has_int64=native_int64 and generation >= 3,
        downcasts=downcasts,
    )
