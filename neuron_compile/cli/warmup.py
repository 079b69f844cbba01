"""`neuron-compile warmup`: fills the cache with every graph of a program."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from neuron_compile.warmup.compile_jobs import Display, RunnerOf
    from neuron_compile.warmup.job import Job

_INTERRUPTED = 130


@click.command()
@click.argument("target")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--jobs", type=click.IntRange(1), help="Graphs to compile at once; default: one for each core."
)
@click.option(
    "--executor",
    metavar="MODULE:FACTORY",
    help="Compile on the concurrent.futures.Executor that this function returns.",
)
@click.option("--dry-run", is_flag=True, help="Print the graphs and their keys; compile nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def warmup(
    target: str,
    arguments: tuple[str, ...],
    jobs: int | None,
    executor: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run a program once to collect its graphs, then compile them side by side.

    TARGET is a script, or module:function. What follows -- are its arguments. The program's values
    are computed by eager PyTorch, so let it make few steps.

    Ends with status 1 if the program or a graph failed, 130 if it was interrupted. What has been
    compiled is kept: run it again to go on.
    """
    from neuron_compile.warmup.session import collect

    collected = collect(target, arguments)
    status = 0
    if not dry_run:
        try:
            _compile(collected.jobs, jobs or len(os.sched_getaffinity(0)), executor)
        except KeyboardInterrupt:
            click.echo(
                "Interrupted. What has been compiled is kept: run it again to go on.", err=True
            )
            status = _INTERRUPTED
    _report(collected.jobs, as_json)
    if collected.error is not None:
        _print_error(collected.error)
        status = status or 1
    if any(job.error is not None for job in collected.jobs):
        status = status or 1
    if status == _INTERRUPTED:
        from neuron_compile.workers.pools import close_pools

        # The threads that wait for workers would keep the process from ending.
        close_pools()
    sys.exit(status)


def _compile(jobs: Sequence[Job], width: int, executor: str | None) -> None:
    from neuron_compile.warmup.compile_jobs import compile_jobs
    from neuron_compile.warmup.job import State
    from neuron_compile.warmup.tally import Tally

    tally = Tally(jobs, width)
    todo = tally.count(State.WAITING)
    click.echo(
        f"{tally.total} graphs: {tally.count(State.CACHED)} cached, {todo} to compile", err=True
    )
    if not todo:
        return
    with _runners(width, executor) as runner_of, _display(tally) as display:
        compile_jobs(jobs, runner_of, width, display)


@contextmanager
def _runners(width: int, executor: str | None) -> Iterator[RunnerOf]:
    from neuron_compile.warmup.program import named
    from neuron_compile.warmup.session import executor_of, executor_runners, local_runners

    if executor is None:
        yield local_runners(width)
        return
    sys.path.insert(0, os.getcwd())  # noqa: PTH109 - sys.path holds strings
    with executor_of(named(executor)) as opened:
        yield executor_runners(opened)


@contextmanager
def _display(tally: Any) -> Iterator[Display]:
    from neuron_compile.settings import read_settings
    from neuron_compile.warmup.plain_display import PlainDisplay

    if sys.stderr.isatty() and not read_settings().is_ci:
        from rich.console import Console

        from neuron_compile.warmup.bar_display import BarDisplay

        with BarDisplay(tally, Console(stderr=True)) as bar:
            yield bar
    else:
        yield PlainDisplay(tally, lambda line: click.echo(line, err=True))


def _report(jobs: Sequence[Job], as_json: bool) -> None:
    from neuron_compile.warmup.not_seen import not_seen
    from neuron_compile.warmup.planned_keys import described, shapes

    unseen = not_seen(jobs)
    if as_json:
        result = {"graphs": [described(job) for job in jobs], "not seen": unseen}
        click.echo(json.dumps(result, indent=2))
        return
    for job in jobs:
        click.echo(f"{job.key[:16]}  {job.state:<9}  {job.model} {job.role}, {job.target}")
        click.echo(f"{'':29}{', '.join(shapes(job.inputs)[:4])}")
        if job.error is not None:
            click.echo(f"{job.error}\n")
    if unseen:
        click.echo("\nNot seen:")
    for sentence in unseen:
        click.echo(f"  {sentence}")


def _print_error(error: BaseException) -> None:
    import traceback

    if isinstance(error, SystemExit):
        click.echo(f"The program ended with status {error.code}.", err=True)
        return
    click.echo("The program failed; the graphs are those it met before:", err=True)
    click.echo("".join(traceback.format_exception(error)), err=True)
