"""The process that measures one case under one backend.

python -m benchmarks.process REQUEST.json MEASUREMENT.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.backends import Backend
from benchmarks.cases.case import Context
from benchmarks.cases.listing import case_named
from benchmarks.protocol import Request
from benchmarks.series import Clock


def measure(request_file: Path, measurement_file: Path) -> None:
    """Carry out a request."""
    request = Request.from_json(json.loads(request_file.read_text()))
    context = Context(Backend(request.backend), request.scale, request.seconds, Clock())
    measurement = case_named(request.case).measure(context)
    measurement_file.write_text(json.dumps(measurement.to_json()))


if __name__ == "__main__":
    measure(Path(sys.argv[1]), Path(sys.argv[2]))
