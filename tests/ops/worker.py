"""A process that examines entries: a line of JSON in, a line of JSON out.

It exists to be killed: a native crash, a runaway allocation or a hang is the end of it, not of
the run.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Final

_MEMORY_LIMIT: Final = 12 << 30


def main() -> None:
    """Serve until standard input ends."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_LIMIT, _MEMORY_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # Native code prints to standard output; what it says joins the error stream.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    from ops.examine import examine

    for line in sys.stdin:
        answers.write(json.dumps(examine(**json.loads(line)).to_json()) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
