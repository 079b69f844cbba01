"""A failed run of the compiler, explained: exit code, signal, error codes, nodes."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Final

from neuron_compile.codegen.legality.refusal import LocatedCodegenError, Sources, within
from neuron_compile.codegen.neuronx_cc.documented_codes import DOCUMENTED

if TYPE_CHECKING:
    from neuron_compile.codegen.neuronx_cc.run_compiler import Outcome

# `NCC_EVRF011` is the user's to mend, `NCC_ITEN406` a defect of the compiler.
_CODE: Final = re.compile(r"NCC_([A-Z]{3,5}\d{3})")
# Instructions are named after nodes: `%n12.1`, `n12_n13.2`.
_INSTRUCTION: Final = re.compile(r"(?<![\w.])%?((?:n\d+_?)+)(?:\.\d+)?(?![\w])")
_KILLED_INSIDE: Final = re.compile(r"\[F137\]|out of memory|MemoryError|oom-kill", re.IGNORECASE)
_QUOTED_LINES: Final = 8
_REPORT: Final = "report it to AWS with the debug folder of NEURON_COMPILE_DEBUG_DIR."

_SIGNALS: Final[dict[int, tuple[str, str]]] = {
    signal.SIGKILL: (
        "it was killed, most likely because the machine ran out of memory",
        "use a machine with more memory, a lower optimization_level, or a smaller model; "
        "nothing was stored, so the next run compiles again.",
    ),
    signal.SIGABRT: ("it aborted", _REPORT),
    signal.SIGSEGV: ("it crashed with a segmentation fault", _REPORT),
    signal.SIGILL: ("it used an instruction that this CPU does not have", _REPORT),
    signal.SIGTERM: ("it was asked to end", "run it again; nothing was stored."),
    signal.SIGINT: ("it was interrupted", "run it again; nothing was stored."),
}


class CompilerError(LocatedCodegenError):
    """neuronx-cc failed. `codes` are those it printed, `nodes` those of the instructions it named,
    `output` everything that it printed."""

    def __init__(
        self,
        what: str,
        *,
        why: str,
        hint: str,
        where: tuple[str, ...] = (),
        codes: tuple[str, ...] = (),
        nodes: tuple[int, ...] = (),
        output: str = "",
    ) -> None:
        super().__init__(what, where=where, why=why, hint=hint)
        self.codes = codes
        self.nodes = nodes
        self.output = output

    def located(self, sources: Sources, graph: str = "") -> CompilerError:
        """The same error with the graph's name and the user's source lines."""
        return CompilerError(
            within(graph, self.what),
            where=(*self.where, *self.lines(sources)),
            why=self.why,
            hint=self.hint,
            codes=self.codes,
            nodes=self.nodes,
            output=self.output,
        )


def explain_exit(outcome: Outcome, target: str, hlo: bytes) -> CompilerError:
    """The error for a run that ended with another exit code than 0; `hlo` is what it was given."""
    codes = tuple(dict.fromkeys(_CODE.findall(outcome.output)))
    why, hint = _cause(outcome, codes)
    return CompilerError(
        f"neuronx-cc could not compile a program for {target}",
        where=tuple(_relevant_lines(outcome.output)),
        why=why,
        hint=hint,
        codes=codes,
        nodes=_nodes(outcome.output, hlo),
        output=outcome.output,
    )


def explain_time_limit(outcome: Outcome, target: str) -> CompilerError:
    """The error for a run that was ended because it took too long."""
    return CompilerError(
        f"neuronx-cc did not finish a program for {target} in {outcome.seconds:.0f} seconds",
        where=tuple(_relevant_lines(outcome.output)),
        why="the time limit was reached; the compiler and its children were killed.",
        hint="raise the limit, or compile faster with optimization_level 1.",
        nodes=(),
        output=outcome.output,
    )


def explain_missing_output(outcome: Outcome, target: str, problem: str) -> CompilerError:
    """The error for a run that claims success without a usable NEFF."""
    return CompilerError(
        f"neuronx-cc said that it compiled a program for {target}, but {problem}",
        where=tuple(_relevant_lines(outcome.output)),
        why="it ended with exit code 0, so this is a defect of it or a full disk.",
        hint="check the free space of the temporary folder (TMPDIR), and run it again.",
        codes=tuple(dict.fromkeys(_CODE.findall(outcome.output))),
        output=outcome.output,
    )


def _cause(outcome: Outcome, codes: tuple[str, ...]) -> tuple[str, str]:
    reasons, hints = [], []
    for code in codes:
        if code.startswith("I"):
            reasons.append(f"NCC_{code}: an internal error of the compiler.")
            hints.append(_REPORT)
        elif code in DOCUMENTED:
            meaning, advice = DOCUMENTED[code]
            reasons.append(f"NCC_{code}: {meaning}.")
            hints.append(advice)
        else:
            reasons.append(f"NCC_{code}: not documented when this was written.")
            hints.append("look the code up in the Neuron compiler's list of error codes.")
    if outcome.exit_code < 0:
        number = -outcome.exit_code
        meaning, advice = _SIGNALS.get(number, (f"it was ended by signal {number}", _REPORT))
        reasons.append(f"{meaning} (signal {number}).")
        hints.append(advice)
    elif _KILLED_INSIDE.search(outcome.output):
        meaning, advice = _SIGNALS[signal.SIGKILL]
        reasons.append(f"{meaning} (exit code {outcome.exit_code}).")
        hints.append(advice)
    elif not codes:
        reasons.append(f"it ended with exit code {outcome.exit_code} and no error code.")
        hints.append(_REPORT)
    return "\n      ".join(reasons), "\n      ".join(dict.fromkeys(hints))


def _relevant_lines(output: str) -> list[str]:
    """The lines that carry a code, else the last ones."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    coded = [line for line in lines if _CODE.search(line)]
    return list(dict.fromkeys(coded))[:_QUOTED_LINES] or lines[-3:]


def _nodes(output: str, hlo: bytes) -> tuple[int, ...]:
    """The nodes that instructions in the output are named after, if the program has such nodes."""
    known = {int(number) for number in re.findall(rb"n(\d+)", hlo)}
    names = _INSTRUCTION.findall(output)
    named = dict.fromkeys(int(n) for name in names for n in re.findall(r"n(\d+)", name))
    return tuple(node for node in named if node in known)
