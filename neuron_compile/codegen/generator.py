"""The seam between a program and the target that will run it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from neuron_compile.lowering import LoweredProgram
from neuron_compile.target import Target


class CodeGenerator(Protocol):
    """Turns StableHLO into a NEFF for one target.

    An implementation is a pure function of the program and of what `fingerprint` tells, so that
    its results can be cached and made in another process.
    """

    @property
    def target(self) -> Target:
        """What the NEFFs run on."""

    def fingerprint(self) -> tuple[tuple[str, bytes], ...]:
        """Named values, other than the program, on which the NEFF's bytes depend.

        Tool versions, flags in canonical order, CPU features. Never paths, names or times.
        """

    def generate(self, program: LoweredProgram) -> Mapping[str, bytes]:
        """The named blobs of the artifact: `neff`, and whatever the generator keeps beside it.

        Raises `CodegenError`.
        """
