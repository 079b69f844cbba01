"""The table of every entry in every dtype: `PYTHONPATH=tests python -m ops.survey --output FILE`.

One line of JSON for each entry and dtype, as `outcome.EntryOutcome` describes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import local
from typing import Final

from ops.entries import DTYPES, cases, dtype_name, dtype_named
from ops.expectations import compared_results, counted_values
from ops.outcome import EntryOutcome
from ops.process import Process
from ops.samples import SAMPLE_LIMIT

_own: Final = local()


def main() -> None:
    """Run the entries that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="file to write; default: standard output")
    parser.add_argument("--op", action="append", help="entry, as `entries()` names it; repeatable")
    parser.add_argument("--dtype", action="append", choices=[dtype_name(d) for d in DTYPES])
    parser.add_argument("--sample", type=int, help="index of one sample")
    parser.add_argument("--limit", type=int, default=SAMPLE_LIMIT, help="samples of an entry")
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    dtypes = tuple(dtype_named(name) for name in options.dtype or map(dtype_name, DTYPES))
    chosen = [case for case in cases(dtypes) if not options.op or case[0] in options.op]
    totals: Counter[tuple[str, bool]] = Counter()
    stream = options.output.open("w") if options.output else sys.stdout

    def run(case: tuple[str, str]) -> EntryOutcome:
        if not hasattr(_own, "process"):
            _own.process = Process()
        name, dtype = case
        found: EntryOutcome = _own.process.examine(
            name,
            dtype,
            sample=options.sample,
            limit=options.limit,
            values=counted_values(name),
            compared=compared_results(name),
        )
        return found

    with ThreadPoolExecutor(options.workers) as pool:
        for outcome in pool.map(run, chosen):
            totals[outcome.dtype, outcome.is_right] += 1
            stream.write(json.dumps(outcome.to_json()) + "\n")
            stream.flush()
    for dtype in dict.fromkeys(outcome_dtype for outcome_dtype, _ in totals):
        right = totals[dtype, True]
        print(f"{dtype}: {right} of {right + totals[dtype, False]} right", file=sys.stderr)


if __name__ == "__main__":
    main()
