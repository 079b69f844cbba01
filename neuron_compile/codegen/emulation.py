"""A device's program on the host: the numbers that a compile-only run goes on with.

The host gets what the device's compiler would get, the legalized program, with the rounding of an
auto-cast written out, so that a run without a device takes the branches that one with it would.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from neuron_compile.codegen.legality.device import Device
from neuron_compile.codegen.legality.refusal import IllegalProgramError
from neuron_compile.codegen.source_digest import source_digest
from neuron_compile.lowering import LoweredProgram

_HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Emulation:
    """What is done to a program before it is compiled for the host.

    It is made legal for `device`, if one is given, and its operands are rounded as `auto_cast`
    (`none`, `matmult`, `all`) to `auto_cast_type` would on a device. 64-bit integers keep their
    bits even for a device that computes them in 32.
    """

    device: Device | None = None
    auto_cast: str = "none"
    auto_cast_type: str = "bf16"

    @property
    def changes_nothing(self) -> bool:
        """Whether a program is compiled as it is."""
        return self.device is None and self.auto_cast == "none"

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        value = dataclasses.asdict(self)
        if self.device is not None:
            value["device"]["downcasts"] = sorted(self.device.downcasts)
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Emulation:
        """Read what `to_json` wrote."""
        device = value["device"]
        if device is not None:
            device = Device(**{**device, "downcasts": frozenset(device["downcasts"])})
        return cls(device, value["auto_cast"], value["auto_cast_type"])

    def fingerprint(self) -> tuple[tuple[str, str], ...]:
        """Named values on which the emulated program depends, besides the program itself."""
        rounding = source_digest(_HERE / "neuronx_cc", "emulate_auto_cast.py")
        return (
            ("emulation", json.dumps(self.to_json(), sort_keys=True)),
            ("legality source", source_digest(_HERE / "legality", "*.py")),
            ("auto-cast source", rounding),
        )

    def apply(self, program: LoweredProgram) -> LoweredProgram:
        """The program that the host is to compile.

        Raises `IllegalProgramError` with everything that the device does not support.
        """
        # They load jaxlib's MLIR, which a cached program does without.
        from neuron_compile.codegen.legality.legalize import legalize
        from neuron_compile.codegen.neuronx_cc.emulate_auto_cast import emulate_auto_cast

        artifact = program.stablehlo
        if self.device is not None:
            legal = legalize(artifact, self.device)
            if legal.refusals:
                raise IllegalProgramError(legal.refusals, target=self.device.name)
            artifact = legal.stablehlo
        artifact = emulate_auto_cast(
            artifact, auto_cast=self.auto_cast, auto_cast_type=self.auto_cast_type
        )
        return dataclasses.replace(program, stablehlo=artifact)
