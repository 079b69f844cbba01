"""The user's error for an action that ended without an answer, or with an error that is none of
ours."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from neuron_compile.errors import CodegenError, LoweringError
from neuron_compile.workers.limits import ActionLimits
from neuron_compile.workers.reproducer import write_reproducer
from neuron_compile.workers.request import GENERATE, Request

_QUOTED_LINES: Final = 6
# The first line that faulthandler writes.
_DUMP: Final = "Fatal Python error"


def explain_failure(
    request: Request,
    limits: ActionLimits,
    reason: str,
    *,
    hint: str = "",
    output: str = "",
    reproducers: Path | None,
) -> LoweringError | CodegenError:
    """The error, which names a folder with a reproducer under `reproducers` if one can be written.

    `reason` is a sentence without its full stop. The last lines of `output` are quoted.
    """
    folder = None
    if reproducers is not None:
        folder = write_reproducer(reproducers, request, limits, reason, output)
    if folder is None and reproducers is None:
        report = "report this with the debug folder of NEURON_COMPILE_DEBUG_DIR."
    elif folder is None:
        report = f"report this; no reproducer could be written to {reproducers}."
    else:
        report = (
            f"report this with the folder {folder}, or run it again with\n"
            f"      python -m neuron_compile.workers.reproduce {folder}"
        )
    is_codegen = request.action == GENERATE
    kind = CodegenError if is_codegen else LoweringError
    what = "generating code for a program" if is_codegen else "lowering a graph to StableHLO"
    return kind(
        f"{what} failed",
        where=_last_words(output),
        why=f"{reason}.",
        hint="\n      ".join(filter(None, (hint, report))),
    )


def _last_words(output: str) -> list[str]:
    """The end of the output, or of what comes before Python's list of threads."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    ends = [number for number, line in enumerate(lines) if line.startswith(_DUMP)]
    return lines[: ends[0] + 1 if ends else len(lines)][-_QUOTED_LINES:]
