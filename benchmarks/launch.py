"""Runs one measurement in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.protocol import Measurement, Request

_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no measurement, in a line."""

    why: str


def launch(request: Request, caches: Path, time_limit: float) -> Measurement | Failure:
    """Measure in a new process, whose compilers keep their caches in the folder `caches`.

    `time_limit` in seconds; the process and its children end with it.
    """
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        asked, measured = Path(folder, "request.json"), Path(folder, "measurement.json")
        log = Path(folder, "log")
        asked.write_text(json.dumps(request.to_json()))
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.process", str(asked), str(measured)],
                cwd=_ROOT,
                env=_environment(caches),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            code = _wait(process, time_limit)
        if code is None:
            return Failure(f"took longer than {time_limit:.0f} s")
        if code or not measured.exists():
            return Failure(_last_line(log) or f"exit code {code}")
        return Measurement.from_json(json.loads(measured.read_text()))


def _wait(process: subprocess.Popen[bytes], time_limit: float) -> int | None:
    try:
        return process.wait(time_limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        # The session: compilers' own workers too, which outlive a process that died.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _environment(caches: Path) -> dict[str, str]:
    return {
        **os.environ,
        "NEURON_COMPILE_CACHE_DIR": str(caches / "neuron"),
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
    }


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""
