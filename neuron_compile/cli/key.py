"""`neuron-compile key`: the keys of a program's graphs, without compiling."""

from __future__ import annotations

import json
import sys

import click


@click.command()
@click.argument("target")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def key(target: str, arguments: tuple[str, ...], as_json: bool) -> None:
    """Print the key of every graph of a program; compile nothing.

    TARGET is a script, or module:function. The keys are equal wherever the program, the versions
    and the options are: two machines that print the same keys share their artifacts.
    """
    from neuron_compile.warmup.planned_keys import described
    from neuron_compile.warmup.session import collect

    collected = collect(target, arguments)
    if as_json:
        click.echo(json.dumps([described(job) for job in collected.jobs], indent=2))
    else:
        for job in collected.jobs:
            click.echo(f"{job.key}  {job.model} {job.role}")
    if collected.error is not None:
        click.echo(f"The program failed: {collected.error}", err=True)
        sys.exit(1)
