"""A process that examines entries: a line of JSON in, a line of JSON out.

It exists to be killed: a native crash, a runaway allocation or a hang is the end of it, not of
the run.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from typing import Final

_MEMORY_LIMIT: Final = 12 << 30
_CPU_SECONDS: Final = 150
_PR_SET_PDEATHSIG: Final = 1


def main() -> None:
    """Serve until standard input ends."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_LIMIT, _MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _die_with_parent()
    # Native code prints to standard output; what it says joins the error stream.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    from ops.examine import examine

    for line in sys.stdin:
        _allow_seconds(_CPU_SECONDS)
        answers.write(json.dumps(examine(**json.loads(line)).to_json()) + "\n")
        answers.flush()


def _allow_seconds(seconds: int) -> None:
    """End the process by SIGXCPU after so much more processor time, however busy the machine is."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _die_with_parent() -> None:
    """A hanging worker must not outlive a run that was killed. Linux only; see prctl(2)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    main()
