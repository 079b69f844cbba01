"""Examines entries in a process of its own, and records its death as the entry's outcome."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from ops.outcome import EntryOutcome, Verdict

_TESTS: Final = Path(__file__).parents[1]


class Process:
    """One worker, started when first needed and again after each death."""

    def __init__(self, seconds_limit: float = 1200.0) -> None:
        self._seconds_limit = seconds_limit
        self._worker: subprocess.Popen[str] | None = None
        # Closed by `close`, or started afresh with the next worker.
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115

    def examine(self, name: str, dtype_name: str, **settings: Any) -> EntryOutcome:
        """See `examine.examine`; a crash or a hang becomes `CRASHED` or `SLOW`."""
        worker = self._running()
        request = {"name": name, "dtype_name": dtype_name, **settings}
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        poll = select.poll()
        poll.register(worker.stdout, select.POLLIN)
        ready = poll.poll(self._seconds_limit * 1000)
        answer = worker.stdout.readline() if ready else ""
        if answer:
            return EntryOutcome.from_json(json.loads(answer))
        self._stop()
        outcome = EntryOutcome(name, dtype_name)
        if not ready:
            text = f"no answer in {self._seconds_limit:.0f} s"
            outcome.add(-1, Verdict.SLOW, Verdict.NONE, text)
        elif worker.returncode == -signal.SIGXCPU:
            outcome.add(-1, Verdict.SLOW, Verdict.NONE, "the processor time ran out")
        else:
            text = f"the process died ({_cause(worker.returncode)}): {self._last_words()}"
            outcome.add(-1, Verdict.CRASHED, Verdict.NONE, text)
        return outcome

    def close(self) -> None:
        """End the worker for good."""
        self._stop()
        self._stderr.close()

    def _stop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is None:
            return
        try:
            worker.wait(0.5 if worker.poll() is None else 0)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
        for stream in (worker.stdin, worker.stdout):
            if stream is not None:
                stream.close()

    def _running(self) -> subprocess.Popen[str]:
        if self._worker is None:
            self._stderr.seek(0)
            self._stderr.truncate()
            path = os.pathsep.join(filter(None, (str(_TESTS), os.environ.get("PYTHONPATH"))))
            self._worker = subprocess.Popen(
                [sys.executable, "-m", "ops.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                text=True,
                env={**os.environ, "PYTHONPATH": path},
            )
        return self._worker

    def _last_words(self) -> str:
        self._stderr.seek(0)
        return " | ".join(self._stderr.read().strip().splitlines()[-3:])[-300:]


def _cause(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"
