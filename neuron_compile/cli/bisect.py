"""`neuron-compile bisect`: which operation departs from eager PyTorch."""

from __future__ import annotations

import dataclasses
import json
import sys

import click

from neuron_compile.cli.model_at import model_at


@click.command()
@click.argument("model", metavar="FILE.py:FUNCTION")
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=1.0,
    show_default=True,
    help="Factor on the tolerances: 1e-4 of the largest entry in float32.",
)
@click.option("--auto-cast", help='As the option auto_cast: "matmult" or "all".')
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def bisect(model: str, tolerance: float, auto_cast: str | None, as_json: bool) -> None:
    """Find the operations of a model, forward and backward, whose results are not eager's.

    FUNCTION of FILE.py takes nothing and returns (model, args) or (model, args, kwargs). The model
    is compiled and run once; every operation is compared with eager PyTorch on the operands that
    it had in the compiled model, so that the first one that departs is found and not those that
    inherit its error. Ends with status 0 if none departs, else with 1.
    """
    from neuron_compile.bisection.bisect import bisect as bisect_model

    subject, args, kwargs = model_at(model)
    options = {"auto_cast": auto_cast} if auto_cast else {}
    graphs = bisect_model(subject, args, kwargs, options=options, tolerance=tolerance)
    if not graphs:
        raise click.ClickException("no graph was captured: there is nothing to compare")
    if as_json:
        click.echo(json.dumps([dataclasses.asdict(graph) for graph in graphs], indent=2))
    else:
        for graph in graphs:
            count = len(graph.departures)
            click.echo(f"{graph.graph}: {count} of {graph.call_count} operations depart from eager")
            for departure in graph.departures:
                click.echo(
                    f"  {departure.operator}   by {departure.error:.1e}   {departure.source or ''}"
                )
    sys.exit(1 if any(graph.departures for graph in graphs) else 0)
