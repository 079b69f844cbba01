"""StableHLO to a host NEFF: an XLA:CPU executable in a NEFF container.

Must not know: tensors, the cache, how the program was lowered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from neuron_compile.artifact.neff import HOST_EXECUTABLE, HOST_FORMAT_VERSION, pack_neff
from neuron_compile.codegen.describe import describe
from neuron_compile.codegen.emulation import Emulation
from neuron_compile.codegen.source_digest import source_digest
from neuron_compile.errors import CodegenError
from neuron_compile.lowering import LoweredProgram
from neuron_compile.pjrt.client import client, devices
from neuron_compile.pjrt.compile_options import compile_flags, compile_options
from neuron_compile.pjrt.host_cpu import host_cpu
from neuron_compile.pjrt.host_kernels import HOST_KERNELS, ensure_host_kernels
from neuron_compile.pjrt.lapack import ensure_lapack
from neuron_compile.target import HOST, Target

_REWRITING: Final = (
    "host_rewrites",
    "pack_sort",
    "spread_depthwise",
    "call_convolution",
    "convolution_form",
    "call_operator",
    "host_call",
    "legality/program_module",
    "legality/tensor_ops",
)


class HostCodeGenerator:
    """Compiles for the CPU of this machine through XLA.

    `optimization_level` is 1 (fast to compile) to 3; `xla_flags` is the user's `XLA_FLAGS`, which
    XLA reads by itself and which therefore only enters the fingerprint. `emulation` is the JSON of
    an `Emulation`, to compute what a device would.
    """

    def __init__(
        self,
        *,
        optimization_level: int = 2,
        xla_flags: str = "",
        emulation: Mapping[str, Any] | None = None,
    ) -> None:
        self._optimization_level = optimization_level
        self._xla_flags = xla_flags
        self._emulation = emulation and Emulation.from_json(emulation)
        # What the constructor was given, as JSON: another process builds the same generator of it.
        self.values = {
            "optimization_level": optimization_level,
            "xla_flags": xla_flags,
            "emulation": emulation,
        }

    @property
    def target(self) -> Target:
        """The host."""
        return HOST

    def fingerprint(self) -> tuple[tuple[str, bytes], ...]:
        """jaxlib's version, the container's, the flags, and the CPU whose instructions the code may
        use."""
        import jaxlib.version

        flags = {
            f"flag {name}": str(value) for name, value in compile_flags(self._optimization_level)
        }
        facts = {
            "tool jaxlib": jaxlib.version.__version__,
            "NEFF format": str(HOST_FORMAT_VERSION),
            **flags,
            "flag XLA_FLAGS": _canonical(self._xla_flags),
            "host rewrites source": source_digest(
                Path(__file__).parents[1],
                *(f"codegen/{name}.py" for name in _REWRITING),
                # What the calls in a program say.
                "pjrt/host_convolution.py",
            ),
            **{f"CPU {name}": value for name, value in host_cpu()},
            **dict(self._emulation.fingerprint() if self._emulation else ()),
        }
        return tuple((name, value.encode()) for name, value in facts.items())

    def generate(self, program: LoweredProgram) -> Mapping[str, bytes]:
        """Compile; the executable is serialized before its first run, since XLA cannot serialize
        some programs (those that sort) afterwards."""
        # Loads MLIR, which a process that finds everything in the cache does without.
        from neuron_compile.codegen.host_rewrites import rewrite_for_host

        if self._emulation:
            program = self._emulation.apply(program)
        ensure_lapack(program.custom_calls)
        rewritten = rewrite_for_host(program.stablehlo)
        kernels = tuple(sorted(name for name in HOST_KERNELS if name.encode() in rewritten))
        ensure_host_kernels(kernels)
        try:
            executable = client().compile_and_load(
                rewritten,
                devices(),
                compile_options(self._optimization_level),
            )
            code = executable.serialize()
        except RuntimeError as error:
            raise CodegenError(
                "XLA could not compile a program for the host",
                why=str(error).strip(),
                hint="report this with the debug folder of NEURON_COMPILE_DEBUG_DIR.",
            ) from error
        neff = pack_neff({HOST_EXECUTABLE: bytes(code)}, target=HOST.name, compressed=False)
        calling = replace(program, custom_calls=(*program.custom_calls, *kernels))
        return {"neff": neff, "manifest.json": describe(self, calling, neff).to_json()}


def _canonical(flags: str) -> str:
    """`XLA_FLAGS` as XLA understands it: of flags of one name the last one holds, and text that is
    not flags names a file with flags."""
    if flags.strip() and not flags.lstrip().startswith("--"):
        file = Path(flags.strip())
        flags = file.read_text() if file.is_file() else flags
    last = {flag.partition("=")[0]: flag for flag in flags.split()}
    return " ".join(sorted(last.values()))
