"""Run a reproducer: `python -m neuron_compile.workers.reproduce FOLDER [--here]`."""

from __future__ import annotations

import argparse
import faulthandler
import sys
from pathlib import Path

from neuron_compile.workers.error_codec import decode_error
from neuron_compile.workers.pool import WorkerPool, WorkersUnavailableError
from neuron_compile.workers.process import WorkerLostError
from neuron_compile.workers.reproducer import read_reproducer
from neuron_compile.workers.request import TASKS


def main(arguments: list[str] | None = None) -> int:
    """Carry out the action of a folder again; 0 if it succeeds, 1 if not, 2 without a reproducer.

    In a worker under the recorded limits, or with `--here` in this process, under none.
    """
    parser = argparse.ArgumentParser(prog="python -m neuron_compile.workers.reproduce")
    parser.add_argument("folder", type=Path, help="the folder that an error message named")
    parser.add_argument("--here", action="store_true", help="in this process, for a debugger")
    given = parser.parse_args(arguments)
    try:
        recorded, limits = read_reproducer(given.folder)
    except (OSError, ValueError) as error:
        _print(str(error))
        return 2
    if given.here:
        faulthandler.enable()
        sizes = {n: len(d) for n, d in TASKS[recorded.action](recorded, _print_progress).items()}
        _print(f"{recorded.action} succeeded: {sizes}")
        return 0
    pool = WorkerPool(1)
    try:
        answer = pool.run(recorded, limits)
    except (WorkerLostError, WorkersUnavailableError) as lost:
        _print(f"{getattr(lost, 'output', '')}\n{recorded.action} failed: {lost}")
        return 1
    finally:
        pool.close()
    if answer.kind == "failed":
        _print(f"{recorded.action} failed: {decode_error(answer.values)}")
        return 1
    _print(f"{recorded.action} succeeded: { {n: len(d) for n, d in answer.blobs.items()} }")
    return 0


def _print_progress(seconds: float, line: str) -> None:
    _print(f"{seconds:.0f} s: {line}")


def _print(text: str) -> None:
    sys.stdout.write(text.rstrip() + "\n")


if __name__ == "__main__":
    sys.exit(main())
