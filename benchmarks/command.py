"""The command line."""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from pathlib import Path

from benchmarks.backends import BACKENDS, missing
from benchmarks.cases.listing import CASES
from benchmarks.machine import describe
from benchmarks.plan import FULL, QUICK, Plan
from benchmarks.report import report
from benchmarks.results import Results
from benchmarks.runner import Runner


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the report, write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small models, under 5 minutes")
    parser.add_argument("--only", nargs="+", metavar="CASE", choices=CASES, help=", ".join(CASES))
    parser.add_argument("--backends", nargs="+", metavar="BACKEND", choices=BACKENDS)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--results", type=Path, default=Path("benchmark-results/results.json"))
    given = parser.parse_args(arguments)
    results = Results(describe())
    with tempfile.TemporaryDirectory(prefix="benchmark-caches-") as caches:
        Runner(_plan(given), Path(caches)).run(results)
    results.save(given.results)
    print(report(results))


def _plan(given: argparse.Namespace) -> Plan:
    plan = QUICK if given.quick else FULL
    backends = [name for name in given.backends or plan.backends]
    changes = {
        "cases": given.only and tuple(given.only),
        "rounds": given.rounds,
        "backends": tuple(name for name in backends if missing(name) is None),
    }
    return dataclasses.replace(plan, **{name: value for name, value in changes.items() if value})
