"""Measure neuron-compile against eager PyTorch, Inductor and bare XLA, and report."""

from __future__ import annotations

import argparse
import dataclasses
import os
import tempfile
from pathlib import Path

from benchmarks.backends import BACKENDS, missing
from benchmarks.cases.listing import CASES
from benchmarks.check import check
from benchmarks.machine import describe
from benchmarks.plan import FULL, QUICK, Plan
from benchmarks.report import report
from benchmarks.results import Results
from benchmarks.runner import Runner

_RESULTS = Path(__file__).parent / "results" / "latest.json"


def main(arguments: list[str] | None = None) -> None:
    """The command line. Exits with 0 whatever the figures are."""
    given = _parser().parse_args(arguments)
    results = Results.load(given.report) if given.report else _measure(given)
    print(report(results))
    if given.check:
        print("\n" + check(results))
    if given.plots:
        from benchmarks.plots import plot

        for file in plot(results, given.plots):
            print(f"plot: {file}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="small models: under 5 minutes instead of 40")
    add("--only", nargs="+", metavar="CASE", choices=CASES, help=f"of {', '.join(CASES)}")
    add("--backends", nargs="+", metavar="NAME", choices=BACKENDS, help=f"of {', '.join(BACKENDS)}")
    add("--rounds", type=int, help="how often each is measured; the first round starts cold")
    add("--seconds", type=float, help="for which each call is repeated")
    add("--minutes", type=float, help="after which nothing more is begun")
    add("--results", type=Path, default=_RESULTS, metavar="FILE", help="where the JSON goes")
    add("--report", type=Path, metavar="FILE", help="report on earlier results, measure nothing")
    add("--check", action="store_true", help="also print what falls short of the bars")
    add("--plots", type=Path, metavar="FOLDER", help="also draw (needs the extra `bench`)")
    return parser


def _measure(given: argparse.Namespace) -> Results:
    plan = _plan(given)
    results = Results({**describe(), "plan": dataclasses.asdict(plan)})
    with tempfile.TemporaryDirectory(prefix="benchmark-caches-") as caches:
        try:
            Runner(plan, Path(caches)).run(results)
        finally:
            # An interrupted run keeps what it has measured.
            results.about["load_after"] = os.getloadavg()[0]
            results.save(given.results)
    print(f"results: {given.results}\n")
    return results


def _plan(given: argparse.Namespace) -> Plan:
    plan = QUICK if given.quick else FULL
    wanted = given.backends or plan.backends
    for name in wanted:
        if why := missing(name):
            print(f"{name} is not measured: {why}")
    changes = {
        "cases": tuple(given.only) if given.only else None,
        "backends": tuple(name for name in wanted if missing(name) is None),
        "rounds": given.rounds,
        "seconds": given.seconds,
        "budget": given.minutes and 60 * given.minutes,
    }
    return dataclasses.replace(plan, **{name: value for name, value in changes.items() if value})
