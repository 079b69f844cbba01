"""The code generator for Neuron devices.

Must not know: tensors, the cache, the environment. What users set there comes in as plain values.
"""

from __future__ import annotations

import hashlib
import json
import logging
import tempfile
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neuron_compile.artifact.neff import unpack_neff
from neuron_compile.codegen.describe import describe
from neuron_compile.codegen.legality.device import INTEGER_DOWNCASTS, Device, device_of
from neuron_compile.codegen.legality.legalize import Legalized, legalize
from neuron_compile.codegen.legality.refusal import IllegalProgramError
from neuron_compile.codegen.neuronx_cc.diagnose import (
    explain_exit,
    explain_missing_output,
    explain_time_limit,
)
from neuron_compile.codegen.neuronx_cc.flags import (
    Flags,
    canonical_text,
    command_words,
    parse_flags,
)
from neuron_compile.codegen.neuronx_cc.hlo_program import to_hlo
from neuron_compile.codegen.neuronx_cc.run_compiler import Outcome, run_compiler
from neuron_compile.codegen.neuronx_cc.tool import Tool, find_tool
from neuron_compile.codegen.source_digest import source_digest
from neuron_compile.errors import ArtifactError, CodegenError, OptionsError
from neuron_compile.target import TARGETS, Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from neuron_compile.lowering import LoweredProgram

_log: Final = logging.getLogger("neuron_compile")

HLO_BLOB: Final = "model.hlo.pb"
LEGAL_BLOB: Final = "legal_stablehlo"
LEGALITY_BLOB: Final = "legality.json"

_LEGALITY: Final = Path(__file__).parents[1] / "legality"

# The release that brought the flags for 64-bit integers (Neuron SDK 2.32).
_INT64_RELEASE: Final = (2, 27)


class NeuronxCodeGenerator:
    """Compiles for a Neuron device through neuronx-cc.

    `extra_flags` is the text of NEURON_CC_FLAGS; its flags hold over those of the other options.
    `time_limit_seconds` ends a compilation that takes longer. `command` is the compiler, a name on
    PATH or a file. `version` is taken for the compiler's where it is not installed, on machines
    that only load NEFFs made elsewhere. `progress` gets the elapsed seconds and the last line
    printed, about once a second. `keep_folder` receives a folder for each program with what the
    compiler got and printed.

    Raises `OptionsError` on flags that cannot be, `CodegenError` where the compiler is missing.
    """

    def __init__(
        self,
        target: Target,
        *,
        optimization_level: int = 2,
        model_type: str = "generic",
        auto_cast: str = "none",
        auto_cast_type: str = "bf16",
        logical_cores: int | None = None,
        extra_flags: str = "",
        time_limit_seconds: float | None = None,
        command: str = "neuronx-cc",
        version: str | None = None,
        progress: Callable[[float, str], None] | None = None,
        keep_folder: Path | None = None,
    ) -> None:
        self._target = target
        self._tool = Tool("", version) if version else find_tool(command, target.name)
        # What the constructor was given, as JSON: another process builds the same generator of it,
        # with the same compiler, whatever that process has on its PATH.
        self.values: dict[str, Any] = {
            "optimization_level": optimization_level,
            "model_type": model_type,
            "auto_cast": auto_cast,
            "auto_cast_type": auto_cast_type,
            "logical_cores": logical_cores,
            "extra_flags": extra_flags,
            "time_limit_seconds": time_limit_seconds,
            "command": self._tool.path or command,
            "version": version,
            "keep_folder": keep_folder and str(keep_folder.absolute()),
        }
        self._command = command
        self._time_limit_seconds = time_limit_seconds
        self._progress = progress
        self._keep_folder = keep_folder
        chosen: dict[str, str | None] = {
            "--model-type": model_type,
            "--auto-cast": auto_cast,
            "--optlevel": str(optimization_level),
        }
        if auto_cast != "none":
            chosen["--auto-cast-type"] = auto_cast_type
        if target.logical_cores > 1 or logical_cores:
            chosen["--lnc"] = str(logical_cores or target.logical_cores)
        if _computes_int64(target, self._tool):
            # AWS's defaults lose bits without a word, and are about to change to these.
            chosen |= {"--native-int64": "enabled", "--implicit-integer-downcast": "none"}
        self._flags: Flags = chosen | parse_flags(extra_flags)
        self.device = _device(target, self._flags)

    @property
    def target(self) -> Target:
        """What the NEFFs run on."""
        return TARGETS[self._target.name]

    def fingerprint(self) -> tuple[tuple[str, bytes], ...]:
        """The compiler's version, its flags, and what turns StableHLO into its input."""
        facts = {
            "tool neuronx-cc": self._tool.version,
            "tool jaxlib": metadata.version("jaxlib"),
            "flags": canonical_text(self._flags),
            "legality source": source_digest(_LEGALITY, "*.py"),
        }
        return tuple((name, value.encode()) for name, value in facts.items())

    @property
    def auto_cast(self) -> tuple[str, str]:
        """Which operations are rounded, and to which type, after all flags."""
        kind = self._flags.get("--auto-cast") or "none"
        return kind, self._flags.get("--auto-cast-type") or "bf16"

    def legalize(self, program: LoweredProgram) -> Legalized:
        """The program as the compiler will see it, and what it would refuse about it."""
        return legalize(program.stablehlo, self.device)

    def generate(self, program: LoweredProgram) -> Mapping[str, bytes]:
        """`neff`, `manifest.json`, and beside them what the compiler was given.

        Raises `IllegalProgramError` with everything that the target does not support, before the
        compiler is called; `CompilerError` for a failed run; `CodegenError` for a missing tool.
        """
        legal = self.legalize(program)
        if legal.refusals:
            raise IllegalProgramError(legal.refusals, target=self.target.name)
        tool = self._installed_tool()
        hlo = to_hlo(legal.stablehlo)
        neff = self._compile(tool, hlo)
        return {
            "neff": neff,
            "manifest.json": describe(self, program, neff).to_json(),
            HLO_BLOB: hlo,
            LEGAL_BLOB: legal.stablehlo,
            LEGALITY_BLOB: _summary(legal),
        }

    def _installed_tool(self) -> Tool:
        """The compiler, which must be the one that the cache's keys tell of."""
        tool = find_tool(self._command, self.target.name)
        if tool.version != self._tool.version:
            raise CodegenError(
                f"neuronx-cc {tool.version} is installed, and {self._tool.version} was expected",
                why="a NEFF is stored under the version of the compiler that made it.",
                hint="unset NEURON_COMPILE_CC_VERSION where neuronx-cc is installed, and restart "
                "processes after an upgrade.",
            )
        return tool

    def _compile(self, tool: Tool, hlo: bytes) -> bytes:
        with tempfile.TemporaryDirectory(prefix="neuronx-cc-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            model, output = folder / "model.hlo.pb", folder / "model.neff"
            model.write_bytes(hlo)
            command = [
                tool.path,
                "compile",
                str(model),
                "--framework=XLA",
                f"--target={self.target.name}",
                f"--output={output}",
                *command_words(self._flags),
            ]
            outcome = run_compiler(
                command,
                folder,
                time_limit_seconds=self._time_limit_seconds,
                progress=self._progress,
            )
            self._keep(command, hlo, outcome)
            return self._checked(outcome, output, hlo)

    def _checked(self, outcome: Outcome, output: Path, hlo: bytes) -> bytes:
        """The NEFF that the run left, if it can be one. Exit code 0 alone proves nothing."""
        target = self.target.name
        if outcome.is_timed_out:
            raise explain_time_limit(outcome, target)
        if outcome.exit_code != 0:
            raise explain_exit(outcome, target, hlo)
        try:
            neff = output.read_bytes()
        except FileNotFoundError as error:
            raise explain_missing_output(outcome, target, "there is no output") from error
        if not neff:
            raise explain_missing_output(outcome, target, "the output is empty")
        try:
            is_host = unpack_neff(neff).is_host
        except ArtifactError as error:
            problem = f"the output is damaged: {error.what}"
            raise explain_missing_output(outcome, target, problem) from error
        if is_host:
            raise explain_missing_output(outcome, target, "the output is a NEFF for the host")
        return neff

    def _keep(self, command: list[str], hlo: bytes, outcome: Outcome) -> None:
        if self._keep_folder is None:
            return
        # Several graphs of several processes write here.
        folder = self._keep_folder / hashlib.sha256(hlo).hexdigest()[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "model.hlo.pb").write_bytes(hlo)
            (folder / "command.txt").write_text("\n".join(command) + "\n")
            (folder / "compiler-output.txt").write_text(outcome.output)
        except OSError as error:
            _log.warning("cannot keep what neuronx-cc printed in %s: %s", folder, error)


def _computes_int64(target: Target, tool: Tool) -> bool:
    return device_of(target.name).has_int64 and tool.release >= _INT64_RELEASE


def _device(target: Target, flags: Flags) -> Device:
    """What the flags say about the device. Raises `OptionsError` where they cannot be."""
    cores = int(flags.get("--lnc") or target.logical_cores)
    if cores > target.logical_cores:
        raise OptionsError(
            f"{target.name} has no logical cores of {cores} physical cores",
            where=(f"--lnc={cores}",),
            why="NCC_EARG001: only trn2 and trn3 can pair cores.",
            hint="leave --lnc out.",
        )
    allowed = (flags.get("--implicit-integer-downcast") or "none").split(",")
    downcasts = frozenset(allowed)
    if downcasts & {"all", "default"}:
        downcasts = INTEGER_DOWNCASTS
    return device_of(
        target.name,
        logical_cores=cores,
        native_int64=flags.get("--native-int64") == "enabled",
        downcasts=downcasts & INTEGER_DOWNCASTS,
    )


def _summary(legal: Legalized) -> bytes:
    """What was rewritten, without node numbers, which are not the program's."""
    counts = Counter(done.code for done in legal.rewritten)
    value = {
        "float64_as_float32": legal.demoted_nodes is not None,
        "rewritten": dict(sorted(counts.items())),
    }
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"
