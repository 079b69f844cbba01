"""`python -m benchmarks`."""

from __future__ import annotations

from benchmarks.command import main

main()
