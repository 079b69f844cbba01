"""One run of the compiler: started, watched, ended in time, and never left behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from neuron_compile.codegen.neuronx_cc import supervise

if TYPE_CHECKING:
    from pathlib import Path

Progress = Callable[[float, str], None]

LOG_NAME: Final = "compiler-output.txt"
_POLL_SECONDS: Final = 0.05
_TAIL_BYTES: Final = 4096
# What the supervisor may take beyond the grace it gives the compiler.
_END_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: exit code (negative for a signal), seconds, all that was printed."""

    exit_code: int
    seconds: float
    output: str
    is_timed_out: bool = False


def run_compiler(
    command: Sequence[str],
    folder: Path,
    *,
    time_limit_seconds: float | None = None,
    progress: Progress | None = None,
    report_seconds: float = 1.0,
    grace_seconds: float = 5.0,
) -> Outcome:
    """Run `command` in `folder` until it ends or the limit is reached.

    `progress` is called every `report_seconds` with the elapsed seconds and the last line printed.
    If it raises, or Ctrl-C does, the compiler's whole process group is killed before the exception
    goes on, as it is when this process dies; `grace_seconds` are given to it to end by itself.
    """
    log = folder / LOG_NAME
    start = time.monotonic()
    process = subprocess.Popen(  # noqa: S603 - the compiler that the user has installed
        [
            *(sys.executable, "-I", "-S", supervise.__file__),
            *(str(grace_seconds), str(folder), str(log)),
            *command,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    is_timed_out = False
    try:
        next_report = start + report_seconds
        while process.poll() is None:
            now = time.monotonic()
            if time_limit_seconds is not None and now - start >= time_limit_seconds:
                is_timed_out = True
                break
            if progress is not None and now >= next_report:
                progress(now - start, _last_line(log))
                next_report = now + report_seconds
            _wait(process, _POLL_SECONDS)
    finally:
        _end(process, grace_seconds)
    return Outcome(
        _as_signal(process.returncode), time.monotonic() - start, _all(log), is_timed_out
    )


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def _end(process: subprocess.Popen[bytes], grace_seconds: float) -> None:
    """Tell the supervisor to end the compiler, and reap the supervisor."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it has ended by itself
        process.stdin.write(b".")
        process.stdin.flush()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(grace_seconds + _END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _as_signal(code: int) -> int:
    """Shells' 128 + number as a negative number, the form of `subprocess`."""
    return 128 - code if 128 < code < 128 + 65 else code


def _last_line(log: Path) -> str:
    try:
        with log.open("rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL_BYTES))
            lines = stream.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _all(log: Path) -> str:
    try:
        return log.read_text(errors="replace")
    except OSError:
        return ""
